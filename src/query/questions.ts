// The questions that callers ask, each: parameters → limits → store → answer. Only the account's own events are ever selected.
import { normalizeException } from '../event/fingerprint.ts'
import { Problem } from '../problem.ts'
import { marksWindow } from '../store/marks-window.ts'
import {
  type ExceptionSource,
  type PointSource,
  type Selection,
  StoreError,
  type TimingSelection,
} from '../store/source.ts'
import {
  answerException,
  answerGroups,
  answerMetric,
  answerMetricRows,
  answerProcesses,
  answerSummary,
  answerTiming,
} from './answers.ts'
import { assertBuckets, assertMarks, assertRows, MAX_GROUP_BUCKETS, MAX_ROWS } from './limits.ts'
import { cutPage, pageOf } from './page.ts'
import { firstNs } from './pair-marks.ts'
import { parseQuestion, type Question } from './question.ts'

export interface QuestionDeps {
  readonly points: PointSource
  readonly exceptions: ExceptionSource
  /** No earlier than any stamp given so far: of the stamp clock and the wall clock the later one. */
  nowNs(): bigint
  readonly maxRunNs: bigint
  readonly maxMarks: number
  /** How much of the budget of series an account has used; a `max` of 0 means no limit. */
  series(account: string): { readonly used: number; readonly max: number }
}

export type Questions = ReturnType<typeof createQuestions>

const RETRY_AFTER_S = 5
/** From this part of the budget of series on there is a warning. */
const WARN_AT = 0.8

/** Each answers a query string for an account with plain JSON, or throws Problem `question_invalid`, `question_too_large` or `store_unavailable`. */
export function createQuestions({ points, exceptions, nowNs, maxRunNs, maxMarks, series }: QuestionDeps) {
  async function selectTimings(account: string, question: Question): Promise<TimingSelection> {
    const selection: TimingSelection = {
      ...select(account, question),
      maxRunNs,
      nowNs: question.nowNs,
      ...(question.uid !== undefined && { uid: question.uid }),
      ...(question.place !== undefined && { asOfNs: question.nowNs }),
    }
    const marks = await ask(points.countMarks({ ...selection, ...marksWindow(selection) }))
    assertMarks(marks, maxMarks, question)
    return selection
  }

  return {
    async timings(account: string, search: URLSearchParams) {
      const question = parseQuestion('timings', search, nowNs())
      const { state } = question
      const selection = { ...(await selectTimings(account, question)), ...(state !== undefined && { state }) }
      const found = await ask(points.findTimings(selection, pageOf(question)))
      const { items, next } = cutPage(found, question, (timing) => [String(firstNs(timing))])
      return { timings: items.map(answerTiming), next }
    },

    async summary(account: string, search: URLSearchParams) {
      const question = parseQuestion('summary', search, nowNs())
      assertBuckets(question)
      const { byMeta, everyNs } = question
      const selection = {
        ...(await selectTimings(account, question)),
        byMeta,
        ...(everyNs !== undefined && { everyNs }),
      }
      const rows = await ask(points.summarizeTimings({ ...selection, maxRows: MAX_ROWS + 1 }))
      assertRows(rows.length, question)
      return { rows: answerSummary(rows) }
    },

    async metrics(account: string, search: URLSearchParams) {
      const question = parseQuestion('metrics', search, nowNs())
      assertBuckets(question)
      const { name, everyNs } = question
      const selection = { ...select(account, question), ...(name !== undefined && { name }) }
      if (everyNs !== undefined) {
        const rows = await ask(points.aggregateMetrics({ ...selection, everyNs, maxRows: MAX_ROWS + 1 }))
        assertRows(rows.length, question)
        return { rows: answerMetricRows(rows) }
      }
      const found = await ask(points.findMetrics(selection, pageOf(question)))
      const { items, next } = cutPage(found, question, (point) => [String(point.atNs), point.name])
      return { points: items.map(answerMetric), next }
    },

    async exceptions(account: string, search: URLSearchParams) {
      const question = parseQuestion('exceptions', search, nowNs())
      const { fingerprint } = question
      const selection = { ...select(account, question), ...(fingerprint !== undefined && { fingerprint }) }
      const found = await ask(exceptions.findExceptions(selection, pageOf(question)))
      const { items, next } = cutPage(found, question, (row) => [String(row.atNs)])
      return { exceptions: items.map(answerException), next }
    },

    async groups(account: string, search: URLSearchParams) {
      const question = parseQuestion('groups', search, nowNs())
      assertBuckets(question, MAX_GROUP_BUCKETS)
      const { fingerprint, everyNs, limit } = question
      const selection = {
        ...select(account, question),
        ...(fingerprint !== undefined && { fingerprint }),
        ...(everyNs !== undefined && { everyNs }),
      }
      const groups = answerGroups(await ask(exceptions.groupExceptions(selection, limit)))
      if (fingerprint === undefined) return { groups }
      return { groups: groups.map((group) => ({ ...group, normalized: normalizeException(group.example) })) }
    },

    async processes(account: string, search: URLSearchParams) {
      const question = parseQuestion('processes', search, nowNs())
      const selection = { ...select(account, question), maxRows: MAX_ROWS }
      const rows = await ask(
        Promise.all([points.findPointProcesses(selection), exceptions.findExceptionProcesses(selection)]),
      )
      return { processes: answerProcesses(rows.flat()).slice(0, question.limit) }
    },

    async series(account: string, search: URLSearchParams) {
      parseQuestion('series', search, nowNs())
      const { used, max } = series(account)
      return { used, max, warning: max > 0 && used >= WARN_AT * max }
    },
  }
}

/** On a later page the range ends at the place it goes on from: nothing newer is left to answer, so nothing newer need be read. */
function select(account: string, { fromNs, toNs, process, meta, place }: Question): Selection {
  const afterNs = place?.[0] === undefined ? toNs : BigInt(place[0]) + 1n
  return {
    account,
    fromNs,
    toNs: afterNs > toNs ? toNs : afterNs > fromNs ? afterNs : fromNs + 1n,
    ...(process !== undefined && { process }),
    ...(meta !== undefined && { meta }),
  }
}

async function ask<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (cause) {
    if (!(cause instanceof StoreError)) throw cause
    throw new Problem('store_unavailable', 'The store did not answer the question. What was sent is safe: try again.', {
      retryAfterS: RETRY_AFTER_S,
      cause,
    })
  }
}
