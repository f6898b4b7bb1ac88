// /api/dead: the account's own events that a store will never take, each with the reason: list, replay, delete.
import { type Event, ownFields } from '../../event/event.ts'
import { fromRecord } from '../../event/record.ts'
import { formatTime } from '../../event/stamp.ts'
import { Problem } from '../../problem.ts'
import { parseParameters, parseQuestion } from '../../query/question.ts'
import { cutPage } from '../../query/select.ts'
import type { DeadLetter, DeadLetters } from '../../state/dead-letters.ts'
import {
  BURY_HELD,
  type BuriedHeld,
  type DeadLetter as DeadLetterJson,
  DROP_DEAD_LETTER,
  FIND_DEAD_LETTERS,
  REPLAY_DEAD_LETTER,
} from '../../wire/dead-letters.ts'
import type { Asker } from '../authorize.ts'
import { diskProblem } from '../intake/accept-event.ts'
import type { Mounts } from '../mount.ts'

type BuriedEvent = Pick<DeadLetter, 'id' | 'account' | 'reason' | 'record' | 'buriedAtUs'>

export interface DeadLetterRoutesDeps {
  nowNs(): bigint
  readonly dead: Pick<DeadLetters, 'remove'> & {
    /** Gives up what parked stores refuse; returns the families. */
    buryHeld(reason: string): BuriedHeld['families']
    /** Newest first; `before` is the last id of the page before. */
    list(...asked: Parameters<DeadLetters['list']>): readonly BuriedEvent[]
    /** Moves a dead letter back into its spool; false when the account has none of this id. Rejects with SpoolError. */
    replay(account: string | undefined, id: string): Promise<boolean>
  }
}

const unknownId = () => new Problem('not_found', 'The account has no dead letter with this id.')

export function mountDeadLetters({ on }: Mounts, { nowNs, dead }: DeadLetterRoutesDeps): void {
  /** The account of the letters; undefined for all, when the operator asks with `all=true`. */
  const ownerOf = ({ account, isOperator }: Asker, isOfAll: boolean): string | undefined => {
    if (!isOfAll) return account
    if (!isOperator) throw new Problem('operator_only', 'Only the session of an operator may ask for `all=true`.')
    return undefined
  }
  const search = (request: Request) => new URL(request.url).searchParams
  const isOfAll = (route: typeof REPLAY_DEAD_LETTER | typeof DROP_DEAD_LETTER, request: Request) =>
    parseParameters(route, search(request)).all !== undefined

  on(FIND_DEAD_LETTERS, (asker, { request }) => {
    const question = parseQuestion('dead', search(request), nowNs())
    const before = question.place?.[0]
    const found = dead.list(ownerOf(asker, question.all), {
      limit: question.limit + 1,
      ...(before !== undefined && { before }),
    })
    const { items, next } = cutPage(found, question, ({ id }) => [id])
    return { dead: items.map((letter) => answerBuried(letter, question.all)), next }
  })

  on(BURY_HELD, (_, { body: { reason }, noted }) => {
    noted.detail = reason
    return { families: dead.buryHeld(reason) }
  })
  on(REPLAY_DEAD_LETTER, async (asker, { request, params }) => {
    const owner = ownerOf(asker, isOfAll(REPLAY_DEAD_LETTER, request))
    const isReplayed = await dead.replay(owner, params.id).catch((cause: unknown) => {
      throw cause instanceof Problem ? cause : diskProblem(cause)
    })
    if (!isReplayed) throw unknownId()
  })
  on(DROP_DEAD_LETTER, (asker, { request, params }) => {
    if (!dead.remove(ownerOf(asker, isOfAll(DROP_DEAD_LETTER, request)), params.id)) throw unknownId()
  })
}

function answerBuried({ id, account, reason, record, buriedAtUs }: BuriedEvent, isOfAll: boolean): DeadLetterJson {
  const common = {
    id,
    ...(isOfAll && { account }),
    reason,
    buried_at: formatTime({ us: buriedAtUs, sub: 0 }),
  }
  const event = readEvent(record)
  if (event === undefined) return { ...common, kind: 'unknown', process: null, meta: null, at: null, event: null }
  const { kind, process, stamp } = event
  const meta = event.meta === '' ? null : event.meta
  const uid = event.uid === undefined ? {} : { uid: event.uid === '' ? null : event.uid }
  const at = formatTime(stamp)
  return { ...common, kind, process, meta, at, event: { process, meta, ...uid, ...ownFields(event), at } }
}

/** Undefined for a record of a kind that this version does not know: a newer one has buried it. */
function readEvent(record: string): Event | undefined {
  try {
    return fromRecord(record)
  } catch {
    return undefined
  }
}
