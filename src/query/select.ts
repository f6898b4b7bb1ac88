// A question → the events that the stores are asked for.
import type { Asker, Buckets, Selection } from '../store/source.ts'
import { bucketsOf } from './buckets.ts'
import type { Question } from './question.ts'

/** The buckets of a question that has passed `assertBuckets`. */
export const buckets = ({ every, tz, fromNs, toNs }: Question): Buckets =>
  every === undefined ? {} : bucketsOf(every, tz, fromNs, toNs)

/** A later page's range ends at the place where it continues, so that nothing newer is read. */
export function select(asker: Asker, question: Question): Selection {
  const { fromNs, toNs, place, slowest } = question
  const afterNs = place?.[0] === undefined || slowest ? toNs : BigInt(place[0]) + 1n
  return {
    ...selectRange(asker, question),
    toNs: afterNs > toNs ? toNs : afterNs > fromNs ? afterNs : fromNs + 1n,
  }
}

/** The whole range on every page: for lists of what holds many events. */
export const selectRange = (asker: Asker, { fromNs, toNs, process, meta }: Question): Selection => ({
  ...asker,
  ...{ fromNs, toNs, process, meta },
})

/** The moment whose states a question about timings asks for. */
export const seenAtNs = ({ nowNs, toNs, as_of }: Question): bigint =>
  as_of !== undefined && toNs < nowNs ? toNs : nowNs

/** The texts that a question selects. */
export const selectTexts = ({ fingerprint, uid, text }: Question) => ({ fingerprint, uid, words: text })
