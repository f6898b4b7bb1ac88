// Refuses a question that would read or answer too much, before the store gives up on it, and says how to narrow it.
import { Problem } from '../problem.ts'
import type { StoreError } from '../store/source.ts'
import { countBuckets } from './buckets.ts'
import type { Question } from './question.ts'

export const MAX_BUCKETS = 10_000
/** Timings of all processes that one answer of `latest` holds. */
export const MAX_LATEST = 10_000
export const MAX_ROWS = 100_000
/** Every group has a series of its own. */
export const MAX_GROUP_BUCKETS = 200

/** Throws Problem `question_too_large` when a series would have too many buckets. */
export function assertBuckets({ fromNs, toNs, every, tz }: Question, max = MAX_BUCKETS): void {
  if (every === undefined) return
  const buckets = countBuckets(every, tz, fromNs, toNs)
  if (buckets > max)
    throw tooLarge(`The series would have ${grouped(buckets)} buckets`, max, 'a shorter range or a longer every')
}

/**
 * Throws Problem `question_too_large` when too many marks decide the answer. `inRange` of them are in the range: if the
 * others alone are too many, a shorter range would not help and is not recommended.
 */
export function assertMarks(marks: number, inRange: number, maxMarks: number, question: Question): void {
  if (marks <= maxMarks) return
  const shorter = marks - inRange <= maxMarks ? ['a shorter range'] : []
  const narrower =
    typeof question.process !== 'string'
      ? ['one process']
      : question.meta === undefined
        ? ['one meta']
        : ([] as string[])
  const ways = [...shorter, ...narrower.map((part) => (shorter.length > 0 ? `for ${part}` : part))]
  const how =
    ways.length === 0
      ? 'another process, or let the operator raise QUERY_MAX_MARKS or lower MAX_RUN'
      : ways.join(' or ')
  throw tooLarge(
    `The question would read ${grouped(marks)} marks`,
    maxMarks,
    `${how}; MAX_RUN before and after the range is read too`,
  )
}

/** Throws Problem `question_too_large` when an answer without pages has too many rows. */
export function assertRows(rows: number, question: Question): void {
  if (rows <= MAX_ROWS) return
  const longer = question.every === undefined ? '' : ' or a longer every'
  const narrower = typeof question.process !== 'string' ? ', or for one process' : ''
  throw tooLarge('The answer would have too many rows', MAX_ROWS, `a shorter range${longer}${narrower}`)
}

/** Throws Problem `question_too_large` when an export would have too many rows. */
export function assertExport(rows: number, max: number): void {
  if (rows > max)
    throw tooLarge(`The export would have ${grouped(rows)} exceptions`, max, 'a shorter range or for one process')
}

/** The problem of a question that is within its limits and still takes too long. */
export const tooSlow = (cause?: StoreError) =>
  new Problem(
    'question_too_large',
    'The answer takes too much time or memory. Ask for a shorter range or one process, or later if the store is busy.',
    { cause },
  )

const tooLarge = (what: string, max: number, narrower: string) =>
  new Problem('question_too_large', `${what}; at most ${grouped(max)} are possible. Ask for ${narrower}.`)

const grouped = (n: number | bigint): string => n.toLocaleString('en-US')
