// What the gate must know of each path below /v1 before it reads a body.
import type { IntakePath } from './intake-gate.ts'
import { MAX_BODY_BYTES } from './read-body.ts'

const single = { maxBodyBytes: MAX_BODY_BYTES, contentTypes: ['application/json'], codings: [] }

export const INTAKE_PATHS: ReadonlyMap<string, IntakePath> = new Map([
  ['/v1/start', { ...single, destinations: ['points'] }],
  ['/v1/end', { ...single, destinations: ['points'] }],
  ['/v1/metrics', { ...single, destinations: ['points'] }],
  ['/v1/exception', { ...single, destinations: ['exceptions'] }],
])
