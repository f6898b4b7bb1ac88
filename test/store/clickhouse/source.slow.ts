// As source.test.ts, in the embedded engine, which gets its parameters in another way.
import { proveExceptions } from './exceptions.ts'
import { proveGroups } from './groups.ts'
import { EMBEDDED } from './subjects.ts'

proveExceptions(EMBEDDED)
proveGroups(EMBEDDED)
