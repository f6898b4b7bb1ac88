// Faults of this installation that do not keep it from taking events, for /api/health.
import { DESTINATIONS } from '../event/event.ts'
import { SLEWED } from '../event/stamp-clock.ts'
import type { EraseAccounts } from '../ship/erase-accounts.ts'
import { isStuck } from '../spool/is-stuck.ts'
import { WHILE_AWAY } from '../state/postgres.ts'
import type { HealthWarning } from '../wire/operations.ts'
import type { Rooms } from './open-rooms.ts'
import { nodeWarnings, silenceWarnings } from './shared-nodes.ts'

type Fault = readonly [code: HealthWarning['code'], detail: string | undefined]

/** `isOperators`: with what only the operator may know, such as an answer of a store. */
export function warningsOf(rooms: Rooms, isOperators: boolean): HealthWarning[] {
  const { sharedNodes, watches, accounts, deadLetters } = rooms
  const fault = watches.fileFault()
  const faults: Fault[] = [
    ['watches_lost', accounts.watchCount?.lost()],
    ['watches_unwritable', fault && unwritableText(fault)],
    ['dead_letters_full', deadLetters.isAlmostFull() ? DEAD_LETTERS_FULL : undefined],
    ['database_away', watches.isAway() ? AWAY : undefined],
    ['disk_stuck', stuckText(rooms)],
    ['clock_ahead', aheadText(rooms)],
    ['erasure_waiting', isOperators ? erasureText(rooms.eraseAccounts.waiting()) : undefined],
    ['downtimes', downtimesText(watches.downtimes())],
  ]
  return [
    ...nodeWarnings(sharedNodes),
    ...silenceWarnings(watches.nodes()),
    ...faults.flatMap(([code, detail]) => (detail === undefined ? [] : [{ code, detail }])),
  ]
}

const DEAD_LETTERS_FULL =
  'The dead letters of this node hold more than 90 % of DEAD_MAX_BYTES; when it is reached, delivery stops. Replay ' +
  'or remove some, or raise DEAD_MAX_BYTES.'

const unwritableText = (fault: string): string =>
  `watches.sqlite cannot be written: ${fault.charAt(0).toLowerCase()}${fault.slice(1)} ` +
  'Until it can be, no alert fires or ends, and no watch can be changed.'

const AWAY = `PostgreSQL does not answer: ${WHILE_AWAY} Once it does, what was due is judged as of its time.`

function stuckText({ spools, stampClock }: Rooms): string | undefined {
  const stuck = DESTINATIONS.filter((destination) => isStuck(spools[destination], stampClock.nowUs()))
  if (stuck.length === 0) return undefined
  return (
    `The disk has not finished a write of ${stuck.join(' and ')} for a minute. Watches are not judged until it has; ` +
    'the time after the first minute is a downtime.'
  )
}

function erasureText({ accounts, reasons }: ReturnType<EraseAccounts['waiting']>): string | undefined {
  if (accounts === 0) return undefined
  const whose = accounts === 1 ? 'a deleted account is' : `${accounts} deleted accounts are`
  return `The data of ${whose} not erased yet: ${reasons.join('; ')}. Stint tries again every two seconds.`
}

/** Of the stamps before the wall clock. */
export const leadOf = (leadUs: number) => (leadUs <= 1e6 ? 'none' : leadUs <= 3600e6 ? 'short' : 'long')

function aheadText({ stampClock, clock }: Rooms): string | undefined {
  const leadUs = stampClock.leadUs()
  const lead = leadOf(leadUs)
  if (lead === 'none') return undefined
  const goneAt = new Date((clock.wallUs() + leadUs / SLEWED) / 1000).toISOString()
  const way = lead === 'long' ? ` ${NEW_NODE_ID}` : ''
  return (
    `The clock was ahead once, so the times of new events are ${Math.round(leadUs / 1e6)} s ahead of it. The lead ` +
    `shrinks by 1 % of the time that passes and is gone at ${goneAt}. Due times of starts are moved by it.${way}`
  )
}

/** Ends a lead at once. */
export const NEW_NODE_ID =
  'To end it at once, stop Stint, delete DATA_DIR/node-id and start it with a NODE_ID that no Stint ever used on ' +
  'these stores.'

const MANY_DOWNTIMES = 5

/** `downtimes`: of the last hour. */
function downtimesText(downtimes: readonly { readonly fromUs: number; readonly toUs: number }[]): string | undefined {
  if (downtimes.length < MANY_DOWNTIMES) return undefined
  const longestS = Math.ceil(Math.max(...downtimes.map(({ fromUs, toUs }) => toUs - fromUs)) / 1e6)
  return (
    `${downtimes.length} downtimes in the last hour: this process was stopped, or stood still for more than 5 s. ` +
    'What is due in one, or in the 30 s after it, is judged a limit later and then often over: limits and intervals ' +
    `of up to ${longestS} s can miss what they watch for.`
  )
}
