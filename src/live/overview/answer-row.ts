// The row of a process in the answer, and the same of each of its metas.
import { toTime } from '../../clock.ts'
import { formatTime } from '../../event/stamp.ts'
import type { Change } from '../../process/change.ts'
import { compare } from '../../store/order.ts'
import type { OverviewMeta, OverviewRow, OverviewRun } from '../../wire/overview.ts'
import type { Process } from '../account.ts'
import { type CoveringWatch, dueBy, type Watched } from './covering.ts'
import type { Medians } from './medians.ts'
import type { MetaView, ProcessView, ShownRun } from './view-process.ts'

const METAS_MAX = 20
const BY_META_MAX = 100

const timeOrNull = (ms: number | undefined): string | null => (ms === undefined ? null : toTime(ms))
/** With nine digits, as events have them. */
const eventTime = (us: number): string => formatTime({ us, sub: 0 })

export function answerRun({ firstUs, state, hasException, tookUs, meta, uid }: ShownRun): OverviewRun {
  const shown = state === 'completed' && hasException ? 'exceptions' : state
  return [eventTime(firstUs), shown, tookUs === undefined ? null : tookUs / 1000, meta, uid]
}

const answerState = ({ judgement: { state, meta, sinceUs, run, raised } }: Pick<MetaView, 'judgement'>) => ({
  state,
  meta,
  since: timeOrNull(sinceUs === undefined ? undefined : Math.floor(sinceUs / 1000)),
  run: run === undefined ? null : answerRun(run),
  exception: raised?.group.headline ?? null,
  fingerprint: raised?.group.fingerprint ?? null,
})

const answerChange = (change: Change | undefined): OverviewMeta['change'] =>
  change === undefined
    ? null
    : {
        at: toTime(Math.floor(change.atUs / 1000)),
        before_ms: change.beforeUs / 1000,
        after_ms: change.afterUs / 1000,
      }

const answerUsual = (meta: MetaView | undefined) => ({
  usual_ms: meta?.usual === undefined ? null : meta.usual.us / 1000,
  usual_of: meta?.usual?.of ?? null,
})

/**
 * The earliest of all metas. The next start is due by a watch's schedule, else by the rhythm: `every` of a watch does
 * not say when. A start is late by its watch, without one by the rhythm.
 */
function answerExpected(watches: readonly CoveringWatch[], metas: readonly MetaView[]) {
  const lastUs = Math.max(...metas.map(({ lastStartUs }) => lastStartUs ?? Number.NEGATIVE_INFINITY))
  const dues = watches.flatMap((watch) => dueBy(watch, metas) ?? [])
  const hasSchedule = ({ meta }: MetaView) =>
    watches.some((watch) => watch.late?.isSchedule === true && (watch.meta ?? meta ?? '') === (meta ?? ''))
  const scheduled = dues.filter(({ isSchedule }) => isSchedule)
  const usual = metas
    .filter((it) => scheduled.length === 0 || !hasSchedule(it))
    .flatMap(({ expected }) => expected ?? [])
  const [rhythm] = metas.flatMap(({ expected }) => expected ?? []).toSorted((a, b) => a.nextMs - b.nextMs)
  return {
    last_start_at: Number.isFinite(lastUs) ? eventTime(lastUs) : null,
    next_start_at: earliest([...scheduled, ...usual].map(({ nextMs }) => nextMs)),
    late_at: earliest([...dues, ...metas.flatMap((meta) => meta.rhythm ?? [])].map(({ lateMs }) => lateMs)),
    every_s: rhythm === undefined ? null : rhythm.everyMs / 1000,
  }
}

const earliest = (times: readonly number[]): string | null => (times.length === 0 ? null : toTime(Math.min(...times)))

const slowerBy = ({ beforeUs, afterUs }: Change): number => afterUs / beforeUs

/** The change of the meta that decides the state, else the greatest. */
function changeOf({ metas, judgement }: ProcessView): Change | undefined {
  const worst = metas.find((meta) => meta.judgement === judgement)
  const [changed] = metas
    .flatMap(({ change }) => (change === undefined ? [] : [change]))
    .toSorted((a, b) => slowerBy(b) - slowerBy(a))
  return worst?.change ?? changed
}

/** The duration after the change divided by that before it; 0 without a change. */
export function slownessOf(view: ProcessView): number {
  const change = changeOf(view)
  return change === undefined ? 0 : slowerBy(change)
}

interface Around {
  readonly watched: Pick<Watched, 'alerts'>
  readonly watches: readonly CoveringWatch[]
  readonly medians: Medians
  /** Runs of a row. */
  readonly each: number
}

export const whoHears = (watches: readonly CoveringWatch[], of: keyof CoveringWatch['hears']): string[] => [
  ...new Set(watches.flatMap(({ hears }) => hears[of])),
]

export function answerRow(
  process: Process,
  view: ProcessView,
  { watched, watches, medians, each }: Around,
): OverviewRow {
  const { metas, judgement } = view
  const runs = metas.flatMap((meta) => meta.runs).toSorted((a, b) => b.firstUs - a.firstUs)
  const worst = metas.find((meta) => meta.judgement === judgement)
  const names = [...process.metas].toSorted(compare).map((meta) => (meta === '' ? null : meta))
  const known = answerState(view)
  return {
    process: process.name,
    metas: names.slice(0, METAS_MAX),
    more_metas: names.length > METAS_MAX,
    ...known,
    ...answerExpected(watches, metas),
    last_seen_at: process.seenUs === 0 ? null : eventTime(process.seenUs),
    ...answerUsual(worst),
    change: answerChange(changeOf(view)),
    runs: runs.slice(0, each).map(answerRun),
    last_24h: view.day,
    ...medians.of(process.name),
    // an exception that belongs to no run is no reason to show another one
    run: known.run ?? (runs[0] === undefined || known.state === 'exceptions' ? null : answerRun(runs[0])),
    alerts: watched.alerts.map(({ id, watch, condition, meta, since, summary, acknowledged }) => ({
      id,
      watch,
      condition,
      meta,
      since,
      summary,
      acknowledged_by: acknowledged?.by ?? null,
    })),
    notified: {
      late: whoHears(watches, 'late').length > 0,
      failed: whoHears(watches, 'failed').length > 0,
      channels: whoHears(watches, 'any'),
    },
  }
}

export const answerMetas = (
  process: Process,
  { metas }: ProcessView,
  { watches, medians, each }: Omit<Around, 'watched'>,
): OverviewMeta[] =>
  metas.slice(0, BY_META_MAX).map(
    (meta): OverviewMeta => ({
      ...answerState(meta),
      ...answerExpected(metas.length === 1 ? watches : watches.filter((watch) => watch.meta === (meta.meta ?? '')), [
        meta,
      ]),
      last_seen_at: meta.runs[0] === undefined ? null : eventTime(meta.runs[0].firstUs),
      ...answerUsual(meta),
      change: answerChange(meta.change),
      runs: meta.runs.slice(0, each).map(answerRun),
      last_24h: meta.day,
      ...medians.of(process.name, meta.meta),
      meta: meta.meta,
    }),
  )
