// Faults of this installation that do not keep it from taking events, for /api/health.
import type { HealthWarning } from '../wire/operations.ts'
import type { Rooms } from './open-rooms.ts'
import { nodeWarnings, silenceWarnings } from './shared-nodes.ts'

export function warningsOf({ sharedNodes, watches, accounts, deadLetters }: Rooms): HealthWarning[] {
  const lost = accounts.watchCount?.lost()
  const fault = watches.fileFault()
  return [
    ...nodeWarnings(sharedNodes),
    ...silenceWarnings(watches.nodes()),
    ...(lost === undefined ? [] : [{ code: 'watches_lost' as const, detail: lost }]),
    ...(fault === undefined ? [] : [{ code: 'watches_unwritable' as const, detail: unwritableText(fault) }]),
    ...(deadLetters.isAlmostFull() ? [{ code: 'dead_letters_full' as const, detail: DEAD_LETTERS_FULL }] : []),
  ]
}

const DEAD_LETTERS_FULL =
  'The dead letters of this node hold more than 90 % of DEAD_MAX_BYTES; when it is reached, delivery stops. Replay or ' +
  'remove some, or raise DEAD_MAX_BYTES.'

const unwritableText = (fault: string): string =>
  `watches.sqlite cannot be written: ${fault.charAt(0).toLowerCase()}${fault.slice(1)} ` +
  'Until it can be, no alert fires or ends, and no watch can be changed.'
