// Everything that is wrong with an event's fields at once: its schema's faults, and a time that is right in form but not in range.
import type { TObject } from '@sinclair/typebox'
import type { EventBody } from '../../event/from-body.ts'
import { ownTimeFault, ownTimeUs } from '../../event/own-time.ts'
import type { Fault } from '../../problem.ts'
import type { IntakeDeps } from './accept-event.ts'
import { findFaults } from './body-fields.ts'

/** Pointers from the root of the body. */
export function findEventFaults(
  schema: TObject,
  body: unknown,
  deps: Pick<IntakeDeps, 'wallUs' | 'maxAgeUs'>,
): Fault[] {
  const faults = findFaults(schema, body)
  const at = (body as EventBody | null)?.at
  if (at === undefined || faults.some(({ pointer }) => pointer === '/at' || pointer === '')) return faults
  const detail = ownTimeFault(ownTimeUs(at), deps.wallUs(), deps.maxAgeUs)
  return detail === undefined ? faults : [...faults, { pointer: '/at', detail }]
}
