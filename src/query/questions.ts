// The questions of callers: parameters → limits → store → answer. Only the account's own events are ever selected.
import type { EndText } from '../event/event.ts'
import { comparePlaces, marksWindow } from '../store/order.ts'
import type { Asker, ExceptionSource, PlainTiming, PointSource, TimingSelection } from '../store/source.ts'
import { mapInTurns, sortInTurns, stepsOfReading } from '../turns.ts'
import type { OutputText } from '../wire/outputs.ts'
import {
  answerException,
  answerMetric,
  answerMetricRows,
  answerProcess,
  answerSent,
  answerSummary,
  answerTiming,
  mergeProcesses,
} from './answers.ts'
import { countExceptions } from './count-exceptions.ts'
import { ask, type Desk, type Reader } from './desk.ts'
import { createGroupQuestions } from './exception-groups.ts'
import { exportExceptions, type InTurn } from './export-exceptions.ts'
import { findTrouble } from './find-trouble.ts'
import type { GroupStates } from './group-states.ts'
import type { KeptAnswers } from './kept-answers.ts'
import { assertBuckets, assertMarks, assertRows, MAX_GROUP_BUCKETS, MAX_LATEST, MAX_ROWS } from './limits.ts'
import { createPrometheus, ifInTime, type Known, lacksOlder } from './prometheus.ts'
import { asksOf, parseQuestion, type Question, type QuestionKind } from './question.ts'
import { findRunMetrics } from './run-metrics.ts'
import { buckets, cutPage, pageFrom, pageOf, placeOf, seenAtNs, select, selectRange, selectTexts } from './select.ts'

export interface QuestionDeps {
  readonly points: PointSource
  readonly exceptions: ExceptionSource
  /** Absent: no group has a state. */
  readonly groupStates?: Pick<GroupStates, 'list'>
  /** No earlier than any stamp given so far: of the stamp clock and the wall clock the later one. */
  nowNs(): bigint
  readonly maxRunNs: bigint
  readonly maxMarks: number
  /** Used series of an account and their limit; a `max` of 0 means no limit. */
  series(account: string): { readonly used: number; readonly max: number }
  /** The overview's figures of the processes. Rejects with Problem. */
  known(account: string): Promise<Known>
  readonly desk: Desk
  readonly kept: Pick<KeptAnswers, 'share'>
  /** Exceptions of one export. */
  readonly maxExported?: number
}

export type Questions = ReturnType<typeof createQuestions>

/** A question about at most this time does not wait behind long ones. */
const SHORT_NS = 3_600_000_000_000n
/** How long the number of all marks is not asked for again: meanwhile a store gets few beside `maxMarks`. */
const BOUND_KEPT_MS = 10_000
/** The used share of the series limit from which on there is a warning. */
const WARN_AT = 0.8

/** Return JSON or `text`. Throw `question_invalid`, `question_too_large`, `rate_limited`, `store_unavailable`. */
export function createQuestions(deps: QuestionDeps) {
  const { points, exceptions, nowNs, maxRunNs, maxMarks, series, desk, kept } = deps
  const groups = createGroupQuestions(exceptions, deps.groupStates)
  const prometheus = createPrometheus(deps)
  async function boundMarks(): Promise<number | undefined> {
    const nobody = { account: '', isShort: true } // all accounts wait for it, so it waits for none of them
    const make = async () => ({ marks: await points.boundMarks?.(nobody), size: 0 })
    const { answer } = await ask(kept.share({ account: '', words: 'marks', maxAgeMs: BOUND_KEPT_MS }, make))
    return answer.marks
  }

  const limited =
    <T>(kind: QuestionKind, answer: (asker: Asker, question: Question) => Promise<T>) =>
    async (account: string, search: URLSearchParams, reader: Reader = {}): Promise<T> => {
      const question = parseQuestion(kind, search, nowNs())
      const ranges = [question, ...(question.compare ? [question.compare] : [])]
      const isShort = kind !== 'prometheus' && ranges.every(({ fromNs, toNs }) => toNs - fromNs <= SHORT_NS)
      const asked = { ...reader, isShort, asks: asksOf(kind) }
      return desk(account, asked, (signal) => answer({ account, signal, isShort }, question))
    }

  /** `stopsEarly`: the store finds the answer without all marks of the window. */
  async function selectTimings(asker: Asker, question: Question, stopsEarly = false): Promise<TimingSelection> {
    const selection: TimingSelection = {
      ...select(asker, question),
      maxRunNs,
      nowNs: seenAtNs(question),
      ...(question.as_of !== undefined && { knownToNs: question.toNs }),
      uid: question.uid,
      // of running ones on the first page, too: an end that comes while it is read would skip its run
      ...((question.place !== undefined || question.state === 'running') && { asOfNs: question.nowNs }),
    }
    if (stopsEarly) return selection
    const all = await boundMarks()
    if (all !== undefined && all <= maxMarks) return selection
    const marks = await ask(points.countMarks({ ...selection, ...marksWindow(selection) }))
    if (marks > maxMarks) assertMarks(marks, await ask(points.countMarks(selection)), maxMarks, question)
    return selection
  }

  type Trouble = ReturnType<typeof groups.troubleOf>
  async function answerTimings(asker: Asker, trouble: Trouble, timings: readonly PlainTiming[], question: Question) {
    const { metric } = question
    const nowNs = seenAtNs(question)
    const [counts, values] = await Promise.all([
      countExceptions(trouble, asker, timings, nowNs),
      metric && ask(findRunMetrics(points, asker, timings, metric, nowNs)),
    ])
    return mapInTurns(timings, (timing, i) => answerTiming(timing, counts[i], values?.[i]))
  }

  async function summarize(asker: Asker, question: Question) {
    const { byMeta, percentiles } = question
    const selection = {
      ...(await selectTimings(asker, question)),
      byMeta,
      ...buckets(question),
      ...(percentiles && { quantiles: percentiles.map(({ quantile }) => quantile) }),
    }
    const rows = await ask(points.summarizeTimings({ ...selection, maxRows: MAX_ROWS + 1 }))
    assertRows(rows.length, question)
    return rows
  }

  async function findTexts(kind: EndText, asker: Asker, question: Question) {
    const selection = { ...select(asker, question), uid: question.uid }
    return cutPage(await ask(exceptions.findTexts(kind, selection, pageOf(question))), question, placeOf)
  }

  async function askTimings(asker: Asker, question: Question) {
    const { state, slowest } = question
    const isCommon = state === undefined || state === 'completed' || state === 'failed'
    const stopsEarly = points.pagesStopEarly === true && !slowest && isCommon
    const selection = await selectTimings(asker, question, stopsEarly)
    const page = pageOf(question)
    const trouble = groups.troubleOf(asker)
    const states = state && state !== 'trouble' ? { states: [state] } : {}
    const { timings, stoppedAt } =
      state === 'trouble'
        ? await ask(findTrouble({ points, exceptions: trouble }, selection, page))
        : { timings: await ask(points.findTimings({ ...selection, slowest, ...states }, page)), stoppedAt: undefined }
    const { items, next } = cutPage(timings, question, placeOf)
    return {
      timings: await answerTimings(asker, trouble, items, question),
      next: next ?? (stoppedAt === undefined ? null : question.next(placeOf({ place: stoppedAt }))),
    }
  }

  return {
    timings: limited('timings', askTimings),

    latest: limited('latest', async (asker, question) => {
      const { each, byMeta } = question
      const selection = { ...(await selectTimings(asker, question)), each, byMeta, maxRows: MAX_LATEST + 1 }
      const found = await ask(points.findLatest(selection))
      const newest = await sortInTurns(found.slice(0, MAX_LATEST), (a, b) => comparePlaces(a.place, b.place))
      const timings = await answerTimings(asker, groups.troubleOf(asker), newest, question)
      return { timings, cut: found.length > MAX_LATEST }
    }),

    summary: limited('summary', async (asker, question) => {
      assertBuckets(question)
      const { compare, percentiles } = question
      const rows = await summarize(asker, question)
      const before = compare && (await summarize(asker, { ...question, ...compare }))
      return { rows: await answerSummary(rows, percentiles, before) }
    }),

    metrics: limited('metrics', async (asker, question) => {
      assertBuckets(question)
      const { name, uid, every } = question
      const selection = { ...select(asker, question), name, uid }
      if (every !== undefined) {
        const form = { ...buckets(question), byMeta: question.byMeta, maxRows: MAX_ROWS + 1 }
        const rows = await ask(points.aggregateMetrics({ ...selection, ...form }))
        assertRows(rows.length, question)
        return { rows: await answerMetricRows(rows) }
      }
      const found = await ask(points.findMetrics(selection, pageOf(question)))
      const { items, next } = cutPage(found, question, placeOf)
      return { points: await mapInTurns(items, answerMetric), next }
    }),

    exceptions: limited('exceptions', async (asker, question) => {
      const selection = { ...select(asker, question), ...selectTexts(question) }
      const found = await ask(exceptions.findExceptions(selection, pageOf(question)))
      const { items, next } = cutPage(found, question, placeOf)
      const steps = ({ exception }: (typeof items)[number]) => stepsOfReading(exception)
      return { exceptions: await mapInTurns(items, answerException, steps), next }
    }),

    outputs: limited('outputs', async (asker, question) => {
      const { items, next } = await findTexts('output', asker, question)
      return { outputs: await mapInTurns(items, (row): OutputText => ({ ...answerSent(row), output: row.text })), next }
    }),

    /** Each page waits for a turn of its own: while nobody reads, an export holds only its place among exports. */
    async export(account: string, search: URLSearchParams, reader: Reader = {}) {
      const question = parseQuestion('export', search, nowNs())
      const selection = { ...selectRange({ account }, question), ...selectTexts(question) }
      const part = { ...(reader.left && { left: reader.left }), isPart: true, asks: 'exceptions' } as const
      const inTurn: InTurn = (find) => desk(account, part, (signal) => ask(find({ ...selection, signal })))
      return desk(account, { ...reader, lane: 'export' }, () =>
        exportExceptions(exceptions, inTurn, question, deps.maxExported),
      )
    },

    groups: limited('groups', async (asker, question) => {
      assertBuckets(question, MAX_GROUP_BUCKETS)
      const selection = { ...selectRange(asker, question), ...selectTexts(question), ...buckets(question) }
      return ask(groups.list(question, selection))
    }),

    processes: limited('processes', async (asker, question) => {
      const { byMeta } = question
      const selection = { ...selectRange(asker, question), byMeta, maxRows: MAX_ROWS + 1 }
      const rows = await ask(
        Promise.all([points.findPointProcesses(selection), exceptions.findExceptionProcesses(selection)]),
      )
      for (const found of rows) assertRows(found.length, question)
      const all = await mergeProcesses(rows.flat(), byMeta)
      const { items, next } = cutPage(pageFrom(all, pageOf(question)), question, placeOf)
      return { processes: await mapInTurns(items, answerProcess), next }
    }),

    series: limited('series', async ({ account }) => {
      const { used, max } = series(account)
      return { used, max, warning: max > 0 && used >= WARN_AT * max }
    }),

    /** The overview waits for turns of its own. */
    async prometheus(account: string, search: URLSearchParams, reader: Reader = {}) {
      const known = await deps.known(account)
      const inTime = <T>(read: (asker: Asker) => Promise<T>) =>
        ifInTime(reader, (own) => limited('prometheus', (asker) => ask(read(asker)))(account, search, own))
      const [metrics, older] = await Promise.all([
        inTime(prometheus.readMetrics),
        known.figures.some(lacksOlder) ? inTime(prometheus.readOlder) : undefined,
      ])
      return { text: await prometheus.print(known, metrics, older) }
    },
  }
}
