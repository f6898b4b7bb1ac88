// What the gate must know of each path below /v1 before it reads a body.

import { JSON_LINES, MAX_BATCH_BYTES, MAX_BODY_BYTES } from '../../wire/events.ts'
import type { IntakePath } from './intake-gate.ts'
import { CODINGS } from './read-batch.ts'

const single = { maxBodyBytes: MAX_BODY_BYTES, contentTypes: ['application/json'], codings: [] }

export const INTAKE_PATHS: ReadonlyMap<string, IntakePath> = new Map([
  ['/v1/start', { ...single, destinations: ['points'] }],
  ['/v1/end', { ...single, destinations: ['points'] }],
  ['/v1/metrics', { ...single, destinations: ['points'] }],
  ['/v1/exception', { ...single, destinations: ['exceptions'] }],
  // Each event of a batch meets the room in its own spool.
  [
    '/v1/batch',
    {
      maxBodyBytes: MAX_BATCH_BYTES,
      contentTypes: ['application/json', JSON_LINES],
      codings: CODINGS,
      destinations: [],
    },
  ],
])
