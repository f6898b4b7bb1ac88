// Judges the stored history by the conditions of a watch that is not made yet: reads it, newest first, and hands it to
// the pure preview of ../log.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Problem } from '../../problem.ts'
import { createMatch, isPattern } from '../../process/process-pattern.ts'
import type { PreviewWatch, WatchPreview } from '../../wire/watch-preview.ts'
import { CONDITION_NAMES, conditionFaults } from '../conditions/conditions.ts'
import { iso } from '../conditions/wording.ts'
import type { KnownMark } from '../engine/seed.ts'
import type { Mark, Point, RaisedException } from '../log/judge-interface.ts'
import { createPreview } from '../log/preview.ts'
import { type StoredWatch, toJudgedWatch, toSpec, type WatchSpec } from '../watch.ts'

const BACK_US = 30 * 86_400e6
/** Of each kind. */
const MAX_ROWS = 50_000

/** What is read of an account. */
export interface HistoryQuestion {
  readonly account: string
  readonly fromUs: number
  readonly toUs: number
  readonly processes: readonly string[]
  /** '' = only without meta; absent = any. */
  readonly meta?: string
  readonly maxRows: number
  readonly signal: AbortSignal
}

type Sent = Pick<KnownMark, 'process' | 'meta' | 'uid' | 'atUs'>

/** The stores' history, newest first. All reject with Problem. */
export interface WatchHistory {
  /** Does the work when it is the account's turn; the signal aborts when it takes too long. */
  inTurn<T>(account: string, work: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** The processes that sent anything of late. */
  findProcesses(q: Omit<HistoryQuestion, 'processes'>): Promise<string[]>
  /** Of any meta. */
  findMarks(q: HistoryQuestion): Promise<KnownMark[]>
  findPoints(q: HistoryQuestion & { readonly name: string }): Promise<(Sent & { readonly value: number })[]>
  /** Those that are not ignored. */
  findExceptions(q: HistoryQuestion): Promise<Sent[]>
}

interface PreviewOptions {
  readonly history: WatchHistory
  nowUs(): number
  readonly maxRunUs: number
}

/** Rejects with Problem: `fields_invalid`, and those of a question. */
export function createPreviewWatch({ history, nowUs, maxRunUs }: PreviewOptions) {
  return async (account: string, body: PreviewWatch): Promise<WatchPreview> => {
    const spec = toSpec({ ...body, name: body.process, channels: [] })
    assertConditions(spec, conditionFaults(spec, { maxRunUs }))
    return history.inTurn(account, async (signal) => {
      const toUs = nowUs()
      const found = await readHistory(
        history,
        { account, fromUs: toUs - BACK_US, toUs, maxRows: MAX_ROWS, signal },
        spec,
      )
      const fromUs = found.fromUs ?? toUs
      const watch: StoredWatch = {
        id: 'preview',
        account,
        spec,
        createdUs: 0,
        // a watch judges only what happened after it was made
        sinceUs: fromUs - 1,
        badge: null,
        changed: {},
      }
      const preview = createPreview({ ...found, spec, watch: toJudgedWatch(watch), fromUs, toUs, maxRunUs })
      // without any event nothing is expected, and before the first one nothing was
      while (found.fromUs !== undefined && preview.step() && !signal.aborted) await nextTurn()
      const { marks, points, exceptions, isTruncated } = found
      return {
        from: iso(fromUs),
        to: iso(toUs),
        marks: marks.length,
        points: points.length,
        exceptions: exceptions.length,
        events: marks.length + points.length + exceptions.length,
        truncated: isTruncated,
        total: preview.total(),
        alerts: preview.alerts(),
      }
    })
  }
}

/** Throws if there is no condition, or if one of them is invalid. */
export function assertConditions(spec: WatchSpec, errors: readonly { pointer: string; detail: string }[]): void {
  if (CONDITION_NAMES.every((name) => spec[name] === null))
    throw new Problem('fields_invalid', 'The watch has no condition.', {
      errors: [{ pointer: '', detail: `must have at least one of ${CONDITION_NAMES.join(', ')}` }],
    })
  if (errors.length > 0) throw new Problem('fields_invalid', 'The watch cannot be saved.', { errors })
}

interface Found {
  readonly marks: readonly Mark[]
  readonly points: readonly Point[]
  readonly exceptions: readonly RaisedException[]
  readonly isTruncated: boolean
  /** Everything since then was read; undefined if nothing is stored. */
  readonly fromUs: number | undefined
}

async function readHistory(
  history: WatchHistory,
  q: Omit<HistoryQuestion, 'processes'>,
  spec: WatchSpec,
): Promise<Found> {
  const { process, meta, metric, failed } = spec
  const processes = isPattern(process) ? (await history.findProcesses(q)).filter(createMatch(process)) : [process]
  const question: HistoryQuestion = { ...q, processes, ...(meta !== null && { meta }) }
  const isOwn = (it: Sent) => meta === null || it.meta === meta
  const readsMarks = CONDITION_NAMES.some((name) => name !== 'metric' && spec[name] !== null)
  const [marks, points, exceptions] = await Promise.all([
    readsMarks ? history.findMarks(question) : [],
    metric === null ? [] : history.findPoints({ ...question, name: metric.name }),
    failed?.exceptions ? history.findExceptions(question) : [],
  ])
  const kinds: readonly (readonly Sent[])[] = [marks, points, exceptions]
  const oldestUs = (list: readonly Sent[]) => list.at(-1)?.atUs ?? Number.POSITIVE_INFINITY
  const cut = kinds.filter(({ length }) => length >= q.maxRows)
  const fromUs = cut.length > 0 ? Math.max(...cut.map(oldestUs)) : Math.min(...kinds.map(oldestUs))
  const since = <T extends Sent>(list: readonly T[]) => list.filter((it) => it.atUs >= fromUs && isOwn(it))
  return {
    fromUs: Number.isFinite(fromUs) ? fromUs : undefined,
    isTruncated: cut.length > 0,
    marks: since(marks).map(({ mark, ...it }) => ({ ...it, kind: mark, arrivedUs: it.atUs })),
    points: since(points).map(({ value, ...it }) => ({ ...it, arrivedUs: it.atUs, items: [[metric!.name, value]] })),
    exceptions: since(exceptions).map(({ uid, ...it }) => ({
      ...it,
      arrivedUs: it.atUs,
      headline: '',
      ...(uid !== '' && { uid }),
    })),
  }
}
