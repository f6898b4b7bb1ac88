// The members of a row of the overview that hold for a process and for each of its metas.
import { toTime } from '../../clock.ts'
import type { Change } from '../../process/change.ts'
import type { Judgement } from '../../process/judge-meta.ts'
import { headlineOf } from '../../wire/headline.ts'
import type { OverviewMeta } from '../../wire/overview.ts'
import { keyOf } from './board.ts'
import { answerRun, type BoardRun } from './board-run.ts'
import type { CoveringWatch, Index, Meta, MetaRaised } from './index-facts.ts'

/** Fewer runs before say nothing about what is usual. */
const FEWEST_BEFORE = 3

const timeOrNull = (ms: number | undefined): string | null => (ms === undefined ? null : toTime(ms))
/** With nine digits, as events have them. */
const eventTime = (ms: number): string => toTime(ms).replace('Z', '000000Z')

export const answerState = ({ state, meta, sinceUs, run, raised }: Judgement<BoardRun, MetaRaised>) => ({
  ...{ state, meta, since: timeOrNull(sinceUs === undefined ? undefined : sinceUs / 1000) },
  run: run === undefined ? null : answerRun(run),
  exception: raised === undefined ? null : headlineOf(raised.example),
  fingerprint: raised?.fingerprint ?? null,
})

export const answerChange = (change: Change | undefined): OverviewMeta['change'] =>
  change === undefined
    ? null
    : { at: toTime(change.atUs / 1000), before_ms: change.beforeUs / 1000, after_ms: change.afterUs / 1000 }

export const answerUsual = (meta: Pick<Meta, 'usual'> | undefined) => ({
  usual_ms: meta?.usual === undefined ? null : meta.usual.us / 1000,
  usual_of: meta?.usual?.of ?? null,
})

interface Due {
  readonly nextMs: number
  readonly lateMs: number
  readonly everyMs: number | undefined
}

/** By the watch where there is one, else by the rhythm: what is due first. */
export function answerExpected(watches: readonly CoveringWatch[], metas: readonly Meta[]) {
  const last = metas
    .filter(({ lastStartUs }) => lastStartUs !== undefined)
    .toSorted((a, b) => b.lastStartUs! - a.lastStartUs!)[0]
  const run = last?.runs.find(({ startUs }) => startUs === last.lastStartUs)
  const watched = watches.flatMap((watch) => dueBy(watch, metas) ?? [])
  const usual = metas.flatMap(({ expected }): Due[] => (expected === undefined ? [] : [expected]))
  const [due] = (watched.length > 0 ? watched : usual).toSorted((a, b) => a.nextMs - b.nextMs)
  return {
    last_start_at: last === undefined ? null : (run?.at ?? eventTime(last.lastStartUs! / 1000)),
    next_start_at: timeOrNull(due?.nextMs),
    late_at: timeOrNull(due?.lateMs),
    every_s: due?.everyMs === undefined ? null : due.everyMs / 1000,
  }
}

/** When the next start is due by the watch; undefined without `late`, and before the first start. */
export function dueBy({ late, meta }: CoveringWatch, metas: readonly Meta[]): Due | undefined {
  const own = metas.filter((one) => meta === null || (one.meta ?? '') === meta)
  const lastMs = Math.max(...own.map(({ lastStartUs }) => (lastStartUs ?? Number.NEGATIVE_INFINITY) / 1000))
  if (late === undefined || !Number.isFinite(lastMs)) return undefined
  // a start within the grace before its time is that start
  const nextMs = late.everyMs === undefined ? late.next(lastMs + late.graceMs) : lastMs + late.everyMs
  return nextMs === undefined ? undefined : { nextMs, lateMs: nextMs + late.graceMs, everyMs: late.everyMs }
}

/** The figures of days of a process, or of one of its metas. */
export function answerFigures(process: string, meta: string | null | undefined, index: Index) {
  const of = (figures: Index['day']) =>
    meta === undefined ? figures?.byProcess.get(process) : figures?.byMeta.get(keyOf(process, meta))
  const isOwn = (one: { readonly meta: string | null }) => meta === undefined || one.meta === meta
  const [day, week] = [of(index.day), of(index.week)]
  const ended = (index.endedOf.get(process) ?? []).filter(isOwn)
  const groups = (index.groupsOf.get(process) ?? []).filter(isOwn)
  return {
    last_24h: {
      runs: (day?.count ?? 0) + (day?.failed ?? 0) + ended.length,
      failed: (day?.failed ?? 0) + ended.filter(({ state }) => state === 'failed').length,
      never_finished: day?.abandoned ?? 0,
      exceptions: groups.reduce((sum, { count }) => sum + count, 0),
    },
    median_24h_ms: day?.p50_ms ?? null,
    median_7d_ms: week === undefined || week.count < FEWEST_BEFORE ? null : week.p50_ms,
  }
}
