// A process and its metas as they are shown, judged by the rules of src/process at the time up to which everything is
// known. Pure.
import { belongsTo } from '../../process/belongs-to.ts'
import type { Change } from '../../process/change.ts'
import { type JudgedRun, type Judgement, judgeMeta, worstOf } from '../../process/judge-meta.ts'
import { findRhythm, RHYTHM_STARTS, type Rhythm } from '../../process/rhythm.ts'
import { findDurations, limitOf, OVERDUE_TIMES, type SettledRun, type Usual } from '../../process/usual.ts'
import type { Alert } from '../../wire/alerts.ts'
import type { Process } from '../account.ts'
import { sumHours } from '../hours.ts'
import { firstUs, isOpen, type LiveRun } from '../marks.ts'
import type { Moment, RaisedGroup, RaisedOfRow } from '../raised.ts'
import { expireRuns, FAILURES, FIGURES, type Row, RUNS, runsOf, startHoursMs, UNFINISHED } from '../row.ts'
import type { CoveringWatch } from './covering.ts'

/** A run as it is shown. */
export interface ShownRun extends JudgedRun {
  readonly meta: string | null
  readonly firstUs: number
  /** µs; undefined without a start or an end. */
  readonly tookUs: number | undefined
}

export interface MetaView {
  readonly meta: string | null
  /** Newest first. */
  readonly runs: readonly ShownRun[]
  readonly raised: readonly Moment[]
  readonly alerts: readonly Alert[]
  readonly lastStartUs: number | undefined
  /** The first one that is known. */
  readonly firstMs: number
  readonly usual: Usual | undefined
  readonly usualUs: number | undefined
  readonly change: Change | undefined
  /** Also where a watch decides what is late. */
  readonly expected: Rhythm | undefined
  readonly rhythm: Rhythm | undefined
  readonly judgement: Judgement<ShownRun, Moment>
  readonly day: Day
}

export interface Day {
  readonly runs: number
  readonly failed: number
  readonly never_finished: number
  readonly exceptions: number
}

export interface ProcessView {
  readonly metas: readonly MetaView[]
  readonly judgement: Judgement<ShownRun, Moment>
  readonly day: Day
  /** A state may change then without any event; infinite if none does. */
  readonly nextChangeUs: number
}

export interface ViewOptions {
  readonly alerts: readonly Alert[]
  /** Those that cover it. */
  readonly watches: readonly CoveringWatch[]
  readonly nowUs: number
  readonly knownUs: number
  readonly maxRunUs: number
  /** Is its group ignored, or was it resolved since? */
  isHidden(group: Pick<RaisedGroup, 'fingerprint' | 'former'>, atUs: number): boolean
}

type Met = Omit<MetaView, 'judgement'>

export function viewProcess(process: Process, options: ViewOptions): ProcessView {
  const { alerts } = options
  const names = new Set([
    ...[...process.rows.keys(), ...(process.raised?.keys() ?? [])].map((meta) => (meta === '' ? null : meta)),
    ...alerts.map(({ meta }) => meta),
  ])
  const sorted = [...names].sort((a, b) => ((a ?? '') < (b ?? '') ? -1 : 1))
  const met = sorted.map((meta) => meetMeta(process, meta, names.size === 1, options))
  const metas = withoutReplaced(met)
    .filter((meta) => meta.runs.length + meta.raised.length + meta.alerts.length > 0 || meta.day.runs > 0)
    .map((meta): MetaView => ({ ...meta, judgement: judgeMeta(meta, options.knownUs) }))
  const sum = (of: (day: Day) => number) => metas.reduce((total, { day }) => total + of(day), 0)
  return {
    metas,
    judgement: worstOf(metas.map(({ judgement }) => judgement)),
    day: {
      runs: sum(({ runs }) => runs),
      failed: sum(({ failed }) => failed),
      never_finished: sum(({ never_finished: n }) => n),
      exceptions: sum(({ exceptions }) => exceptions),
    },
    nextChangeUs: Math.min(...metas.map((meta) => nextChangeOf(meta, options))),
  }
}

function meetMeta(process: Process, meta: string | null, isOnly: boolean, options: ViewOptions): Met {
  const { watches, nowUs, knownUs, maxRunUs } = options
  const row = process.rows.get(meta ?? '')
  const found = process.raised?.get(meta ?? '')
  if (row !== undefined) expireRuns(row, knownUs, maxRunUs)
  const raised = found?.moments.filter(({ atUs, group }) => !options.isHidden(group, atUs)) ?? []
  const all = row === undefined ? [] : runsOf(row)
  const runs = showRuns(all, meta, raised)
  const starts = runs.map((run) => run.firstUs / 1000)
  const hours = row === undefined ? [] : startHoursMs(row)
  const rhythm = findRhythm(starts.slice(0, RHYTHM_STARTS), hours)
  const isOf = (of: string | null): boolean => (of === null ? isOnly : of === (meta ?? ''))
  const isWatched = watches.some((watch) => watch.late !== undefined && isOf(watch.meta))
  const { usual, change } = findDurations(all.flatMap(toSettled), knownUs)
  return {
    meta,
    runs,
    raised,
    usual,
    usualUs: usual?.us,
    change,
    expected: rhythm,
    rhythm: isWatched ? undefined : rhythm,
    alerts: options.alerts.filter((alert) => alert.meta === meta),
    lastStartUs: runs[0]?.firstUs,
    firstMs: Math.min(starts.at(-1) ?? Number.POSITIVE_INFINITY, ...hours),
    day: countDay(row, found, options, nowUs),
  }
}

const toSettled = ({ startUs, endUs, failed }: LiveRun): SettledRun[] =>
  Number.isNaN(startUs) || Number.isNaN(endUs) ? [] : [{ startedUs: startUs, endedUs: endUs, failed }]

/** Newest first, of one start those with the later uid. */
function showRuns(runs: readonly LiveRun[], meta: string | null, raised: readonly Moment[]): ShownRun[] {
  const shown = runs.map((run) => showRun(run, meta))
  if (raised.length > 0) markRaised(shown, raised)
  return shown.sort((a, b) => b.firstUs - a.firstUs || ((a.uid ?? '') < (b.uid ?? '') ? 1 : -1))
}

type Shown = { -readonly [K in keyof ShownRun]: ShownRun[K] }

function showRun(run: LiveRun, meta: string | null): Shown {
  const { uid, startUs, endUs, failed, settledUs } = run
  const [isBare, isEnded] = [Number.isNaN(startUs), !Number.isNaN(endUs)]
  const first = firstUs(run)
  return {
    meta,
    uid: uid === '' ? null : uid,
    firstUs: first,
    startUs: first,
    isBare,
    settledUs,
    hasException: false,
    state: isOpen(run) ? 'running' : !isEnded ? 'abandoned' : failed ? 'failed' : isBare ? 'orphan' : 'completed',
    endUs: isOpen(run) ? Number.POSITIVE_INFINITY : isEnded ? endUs : first,
    tookUs: isBare || !isEnded ? undefined : endUs - startUs,
  }
}

/** Runs that an exception belongs to. */
function markRaised(runs: readonly Shown[], raised: readonly Moment[]): void {
  const byUid = Map.groupBy(runs, ({ uid }) => uid)
  for (const moment of raised) {
    const own = moment.uid === null ? runs : (byUid.get(moment.uid) ?? [])
    for (const run of own)
      if (!run.hasException && canRaise(run) && belongsTo(moment, run, own)) run.hasException = true
  }
}

/** An unfinished run, or an end without a start that does not say failed, has no known span. */
const canRaise = ({ state }: ShownRun): boolean => state !== 'abandoned' && state !== 'orphan'

export function countDay(
  row: Row | undefined,
  raised: RaisedOfRow | undefined,
  { isHidden }: Pick<ViewOptions, 'isHidden'>,
  nowUs: number,
): Day {
  const of = (figure: number) => (row === undefined ? 0 : sumHours(row.figures, FIGURES, figure, nowUs))
  const groups = raised?.groups.values() ?? [].values()
  const failed = of(FAILURES)
  return {
    runs: of(RUNS) + failed,
    failed,
    never_finished: of(UNFINISHED),
    exceptions: groups
      .filter((group) => !isHidden(group, group.atUs))
      .reduce((sum, { hours }) => sum + sumHours(hours, 1, 0, nowUs), 0),
  }
}

/** A meta that fell silent when another one began, such as a version or a host, was replaced: that is no silence. */
function withoutReplaced(metas: readonly Met[]): Met[] {
  return metas.map((meta) => {
    const { rhythm, lastStartUs = 0 } = meta
    const isNext = ({ firstMs }: Met) =>
      rhythm !== undefined && firstMs > lastStartUs / 1000 && firstMs <= rhythm.lateMs
    return metas.some(isNext) ? { ...meta, rhythm: undefined, expected: undefined } : meta
  })
}

const DAY_US = 86_400e6

function nextChangeOf({ runs, rhythm, usualUs, change }: MetaView, { knownUs, maxRunUs }: ViewOptions): number {
  const times = runs.flatMap(({ state, startUs }) =>
    state === 'running'
      ? [startUs + maxRunUs, ...(usualUs === undefined ? [] : [startUs + limitOf(OVERDUE_TIMES, usualUs)])]
      : [],
  )
  if (rhythm !== undefined) times.push(rhythm.lateMs * 1000)
  if (change !== undefined) times.push(change.atUs + DAY_US)
  return Math.min(...times.filter((us) => us >= knownUs))
}
