// The rows of the overview, from what the stores say (board.ts), the alerts that fire and the watches. Pure.
import type { Change } from '../../process/change.ts'
import { judgeMeta, worstOf } from '../../process/judge-meta.ts'
import { findRhythm, RHYTHM_STARTS, type Rhythm } from '../../process/rhythm.ts'
import { type Durations, findDurations, type SettledRun } from '../../process/usual.ts'
import type { OverviewMeta, OverviewRow } from '../../wire/overview.ts'
import { PROCESS_STATES } from '../../wire/process-state.ts'
import { answerChange, answerExpected, answerFigures, answerState, answerUsual } from './answer-row.ts'
import { type BoardFacts, keyOf, NO_STARTS, type Starts } from './board.ts'
import { answerRun, type BoardRun } from './board-run.ts'
import {
  type CoveringWatch,
  type Index,
  indexFacts,
  type Meta,
  type MetaRaised,
  type OwnFacts,
  type Watched,
} from './index-facts.ts'

const METAS_MAX = 20
const BY_META_MAX = 100

export function buildRows(facts: BoardFacts, watched: Watched, nowMs: number, each: number) {
  const index = indexFacts(facts)
  const alertsOf = Map.groupBy(watched.alerts, ({ process }) => process)
  const names = new Set([...facts.entries.map(({ process }) => process), ...facts.runs.keys(), ...alertsOf.keys()])
  return [...names]
    .map((process) => buildRow(process, index, { ...watched, alerts: alertsOf.get(process) ?? [] }, nowMs, each))
    .toSorted((a, b) => a.rank - b.rank || b.seenMs - a.seenMs || (a.row.process < b.row.process ? -1 : 1))
}

function buildRow(process: string, index: Index, watched: Watched, nowMs: number, each: number) {
  const runs = index.runs.get(process) ?? []
  const entry = index.entryOf.get(process)
  const raised = (index.groupsOf.get(process) ?? []).map(
    ({ meta, last_at, example, fingerprint }): MetaRaised => ({
      ...{ meta, example, fingerprint, atUs: Date.parse(last_at) * 1000 },
    }),
  )
  const watches = watched.watches.filter((watch) => watch.covers(process))
  const names = new Set([
    ...runs.map(({ meta }) => meta),
    ...(index.startedMetas.get(process) ?? []).map(([, meta]) => meta),
    ...raised.map(({ meta }) => meta),
    ...watched.alerts.map(({ meta }) => meta),
  ])
  const only = names.size === 1
  const metas = withoutReplaced(
    [...names].map((meta) => {
      const isOwn = (one: { readonly meta: string | null }) => one.meta === meta
      // an alert about no meta is about the whole process: it counts once, with those without meta
      const own = { meta, runs: runs.filter(isOwn), raised: raised.filter(isOwn), alerts: watched.alerts.filter(isOwn) }
      return meetMeta(process, own, { index, watches, isOnly: only }, nowMs)
    }),
  ).map((meta): Meta => ({ ...meta, judgement: judgeMeta(meta, nowMs * 1000) }))
  const judgement = worstOf(metas.map((meta) => meta.judgement))
  const changed = metas
    .filter((meta) => meta.change !== undefined)
    .toSorted((a, b) => slowerBy(b.change!) - slowerBy(a.change!))[0]
  const worst = metas.find((meta) => meta.judgement === judgement)
  const known = {
    ...answerState(judgement),
    ...answerExpected(watches, metas),
    last_seen_at: entry?.last_at ?? runs[0]?.at ?? null,
    ...answerUsual(worst),
    change: answerChange(changed?.change),
    runs: runs.slice(0, each).map(answerRun),
    ...answerFigures(process, undefined, index),
  }
  const all = entry?.metas ?? [...names]
  const row: OverviewRow = {
    ...{ process, metas: all.slice(0, METAS_MAX), more_metas: all.length > METAS_MAX || entry?.more_metas === true },
    ...known,
    // an exception that belongs to no run is no reason to show another one
    run: known.run ?? (runs[0] === undefined || known.state === 'exceptions' ? null : answerRun(runs[0])),
    alerts: watched.alerts.map(({ id, watch, condition, meta, since, summary, acknowledged }) => ({
      ...{ id, watch, condition, meta, since, summary },
      acknowledged_by: acknowledged?.by ?? null,
    })),
    notified: {
      late: watches.some(({ hearsLate }) => hearsLate),
      failed: watches.some(({ hearsFailed }) => hearsFailed),
      channels: [...new Set(watches.flatMap(({ channels }) => channels))],
    },
  }
  const byMeta = () =>
    metas.slice(0, BY_META_MAX).map(
      (meta): OverviewMeta => ({
        ...answerState(meta.judgement),
        ...answerExpected(only ? watches : watches.filter((watch) => watch.meta === (meta.meta ?? '')), [meta]),
        last_seen_at: meta.runs[0]?.at ?? null,
        ...answerUsual(meta),
        change: answerChange(meta.change),
        runs: meta.runs.slice(0, each).map(answerRun),
        ...answerFigures(process, meta.meta, index),
        meta: meta.meta,
        run: meta.judgement.run === undefined ? null : answerRun(meta.judgement.run),
      }),
    )
  return {
    row,
    byMeta,
    watches,
    metas,
    rank: PROCESS_STATES.indexOf(judgement.state),
    seenMs: row.last_seen_at === null ? 0 : Date.parse(row.last_seen_at),
  }
}

type Own = Pick<OwnFacts, 'meta' | 'runs' | 'raised' | 'alerts'>
interface Around {
  readonly index: Index
  readonly watches: readonly CoveringWatch[]
  readonly isOnly: boolean
}
type Met = Omit<Meta, 'judgement'>

function meetMeta(process: string, own: Own, { index, watches, isOnly }: Around, nowMs: number): Met {
  const key = keyOf(process, own.meta)
  const starts = index.starts.get(key) ?? NO_STARTS
  const { newest } = starts
  const known = newest[0] ?? 0
  const times = [...own.runs.map(({ startUs }) => startUs / 1000).filter((ms) => ms > known + 1), ...newest]
  const rhythm = rhythmOf(starts, times)
  const isWatched = watches.some(({ late, meta }) => late !== undefined && (meta === null ? isOnly : meta === own.meta))
  const { usual, change } = durationsOf(own.runs, nowMs)
  return {
    ...own,
    ...{ usual, change, usualUs: usual?.us, expected: rhythm, rhythm: isWatched ? undefined : rhythm },
    lastStartUs: times[0] === undefined ? undefined : times[0] * 1000,
    firstMs: Math.min(times.at(-1) ?? Number.POSITIVE_INFINITY, starts.firstHour),
  }
}

/** What was found is kept with what it was found from: most of it stays the same from one answer to the next. */
const rhythms = new WeakMap<Starts, { readonly key: string; readonly rhythm: Rhythm | undefined }>()

function rhythmOf(starts: Starts, times: readonly number[]): Rhythm | undefined {
  const key = `${times[0]} ${times.length}`
  const held = rhythms.get(starts)
  if (held?.key === key && starts !== NO_STARTS) return held.rhythm
  const rhythm = findRhythm(times.slice(0, RHYTHM_STARTS), starts.hours)
  rhythms.set(starts, { key, rhythm })
  return rhythm
}

function durationsOf(runs: readonly BoardRun[], nowMs: number): Durations {
  const settled = runs
    .flatMap(({ ms, state, startUs }): SettledRun[] =>
      ms === null ? [] : [{ startedUs: startUs, endedUs: startUs + ms * 1000, failed: state === 'failed' }],
    )
    .sort((a, b) => a.endedUs - b.endedUs)
  return findDurations(settled, nowMs * 1000)
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

const slowerBy = ({ beforeUs, afterUs }: Change): number => afterUs / beforeUs
