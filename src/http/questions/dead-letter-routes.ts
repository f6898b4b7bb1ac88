// /api/dead: the account's own events that a store will never take, each with the reason: list, replay, delete.
import { Elysia } from 'elysia'
import type { Event } from '../../event/event.ts'
import { fromRecord } from '../../event/record.ts'
import { formatTime } from '../../event/stamp.ts'
import { Problem } from '../../problem.ts'
import { cutPage } from '../../query/page.ts'
import { parseQuestion } from '../../query/question.ts'
import type { DeadLetter, DeadLetters } from '../../state/dead-letters.ts'
import {
  type DeadLetterPage,
  DROP_DEAD_LETTER,
  FIND_DEAD_LETTERS,
  REPLAY_DEAD_LETTER,
} from '../../wire/dead-letters.ts'
import { emptyAnswer, jsonAnswer } from '../answers.ts'
import { describeRoute } from '../docs/describe-route.ts'
import { diskProblem } from '../intake/accept-event.ts'

export type BuriedEvent = Pick<DeadLetter, 'id' | 'reason' | 'record' | 'buriedAtUs'>

export interface DeadLetterRoutesDeps {
  /** The account a request may read, by key or session. Throws Problem `key_invalid` or `scope_missing`. */
  accountOf(request: Request): string
  nowNs(): bigint
  readonly dead: Pick<DeadLetters, 'remove'> & {
    /** Newest first; `before` is the last id of the page before. */
    list(...asked: Parameters<DeadLetters['list']>): readonly BuriedEvent[]
    /** Puts the event back into its spool and takes it from the dead letters; false when the account has none of this id. Rejects with SpoolError. */
    replay(account: string, id: string): Promise<boolean>
  }
}

const unknownId = () => new Problem('not_found', 'The account has no dead letter with this id.')

export function deadLetterRoutes({ accountOf, nowNs, dead }: DeadLetterRoutesDeps) {
  return new Elysia({ normalize: false })
    .get(
      FIND_DEAD_LETTERS.path,
      ({ request }) => {
        const account = accountOf(request)
        const question = parseQuestion('dead', new URL(request.url).searchParams, nowNs())
        const before = question.place?.[0]
        const found = dead.list(account, { limit: question.limit + 1, ...(before !== undefined && { before }) })
        const { items, next } = cutPage(found, question, ({ id }) => [id])
        return jsonAnswer({ dead: items.map(answerBuried), next } satisfies DeadLetterPage)
      },
      describeRoute(FIND_DEAD_LETTERS),
    )
    .post(
      REPLAY_DEAD_LETTER.path,
      async ({ request, params }) => {
        const account = accountOf(request)
        const isReplayed = await dead.replay(account, params.id).catch((cause: unknown) => {
          throw diskProblem(cause)
        })
        if (!isReplayed) throw unknownId()
        return emptyAnswer()
      },
      describeRoute(REPLAY_DEAD_LETTER),
    )
    .delete(
      DROP_DEAD_LETTER.path,
      ({ request, params }) => {
        if (!dead.remove(accountOf(request), params.id)) throw unknownId()
        return emptyAnswer()
      },
      describeRoute(DROP_DEAD_LETTER),
    )
}

function answerBuried({ id, reason, record, buriedAtUs }: BuriedEvent) {
  const event = fromRecord(record)
  const { kind, process, stamp } = event
  const meta = event.meta === '' ? null : event.meta
  const at = formatTime(stamp)
  const buriedAt = formatTime({ us: buriedAtUs, sub: 0 })
  return { id, kind, process, meta, at, reason, buried_at: buriedAt, event: { process, meta, ...contentOf(event), at } }
}

/** What an event says beside its process, meta and time, as its sender wrote it. */
function contentOf(event: Event) {
  switch (event.kind) {
    case 'start':
    case 'end':
      return { uid: event.uid === '' ? null : event.uid }
    case 'metrics':
      return { items: Object.fromEntries(event.items) }
    case 'exception':
      return { exception: event.exception }
  }
}
