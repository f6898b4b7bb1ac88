// When the exception of a failure was raised before, for the notification about it. Within a second, or not at all.
import { formatNs } from '../event/stamp.ts'
import type { ToldException } from '../notify/delivery/complete-body.ts'
import { Problem } from '../problem.ts'
import { GRACE_NS } from '../query/count-exceptions.ts'
import { ask, type Desk } from '../query/desk.ts'
import { createSeenBefore } from '../query/seen-before.ts'
import { compare } from '../store/order.ts'
import type { ExceptionSource } from '../store/source.ts'
import { longHeadline } from '../wire/headline.ts'

const WITHIN_MS = 1_000
const AMONG = 20

export function createFindPrevious(exceptions: Pick<ExceptionSource, 'findExceptions' | 'findGroupSpans'>, desk: Desk) {
  const seen = createSeenBefore(exceptions)

  async function find({ account, process, meta, headline, from, at }: ToldException, signal: AbortSignal) {
    const asker = { account, signal, isShort: true }
    const [beganNs, failedNs] = [nsOf(from), nsOf(at)]
    const range = { fromNs: beganNs - GRACE_NS, toNs: failedNs + GRACE_NS }
    const rows = await exceptions.findExceptions({ ...asker, process, meta, ...range }, { limit: AMONG })
    const row = rows.find(({ exception }) => longHeadline(exception) === headline)
    if (row === undefined) return undefined
    const [beforeNs = 0n] = [row.atNs, beganNs].toSorted(compare)
    const [found] = await seen.before(asker, [{ ...row, example: row.exception }], beforeNs)
    return found?.previousNs === undefined ? null : formatNs(found.previousNs)
  }

  /** Null: it is new. Undefined: it is not stored yet, or its store does not answer. */
  return (told: ToldException): Promise<string | null | undefined> =>
    desk(told.account, { isShort: true, asks: 'exceptions', left: AbortSignal.timeout(WITHIN_MS) }, (signal) =>
      ask(find(told, signal)),
    ).catch((error: unknown) => {
      if (error instanceof Problem) return undefined
      throw error
    })
}

const nsOf = (time: string): bigint => BigInt(Date.parse(time)) * 1_000_000n
