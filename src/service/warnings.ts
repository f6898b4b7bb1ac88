// Faults of this installation that do not keep it from taking events, for /api/health.
import type { HealthWarning } from '../wire/operations.ts'
import type { Rooms } from './open-rooms.ts'
import { nodeWarnings, silenceWarnings } from './shared-nodes.ts'

export function warningsOf({ sharedNodes, watches, accounts }: Rooms): HealthWarning[] {
  const lost = accounts.watchCount?.lost()
  const fault = watches.fileFault()
  return [
    ...nodeWarnings(sharedNodes),
    ...silenceWarnings(watches.nodes()),
    ...(lost === undefined ? [] : [{ code: 'watches_lost' as const, detail: lost }]),
    ...(fault === undefined ? [] : [{ code: 'watches_unwritable' as const, detail: unwritableText(fault) }]),
  ]
}

const unwritableText = (fault: string): string =>
  `watches.sqlite cannot be written: ${fault.charAt(0).toLowerCase()}${fault.slice(1)} ` +
  'Until it can be, no alert fires or ends, and no watch can be changed.'
