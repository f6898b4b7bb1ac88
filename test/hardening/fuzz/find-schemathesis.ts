// Where schemathesis is once it was got: a Python environment of its own beside what else the tests keep.
import { homedir } from 'node:os'
import { join } from 'node:path'

export const SCHEMATHESIS_VERSION = '4.32.5'
export const SCHEMATHESIS_VENV = join(homedir(), `.cache/stint/schemathesis-${SCHEMATHESIS_VERSION}`)
export const SCHEMATHESIS = join(SCHEMATHESIS_VENV, 'bin/schemathesis')
