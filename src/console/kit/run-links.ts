// Runs as the overview has them: their links, and their states in words and colours.

import type { OverviewRun, OverviewRunState } from '../../wire/overview.ts'
import { RUN_STATE_TEXT } from '../../wire/words.ts'
import { formatRunId } from '../timeline/run.ts'
import { formatDuration } from './format-number.ts'
import { formatMoment, parseTime } from './format-time.ts'
import { formatRoute } from './route.ts'
import { fixRange, presetFor } from './time-range.ts'

/** The classes of base.css know no `exceptions`: such a run is as red as a failed one. */
export const markOf = (state: OverviewRunState): string => (state === 'exceptions' ? 'failed' : state)

export const isTrouble = (state: OverviewRunState): boolean =>
  state === 'failed' || state === 'exceptions' || state === 'abandoned'

const DAY_MS = 86_400_000
const LONGEST_MS = 27 * 86_400_000

/** Over the shortest range that shows the run with this id; of an old one over the days around it. */
export const linkToRun = (process: string, startMs: number, run: string, nowMs: number): string => {
  const isOld = nowMs - startMs > LONGEST_MS
  const range = isOld ? fixRange(startMs - DAY_MS, startMs + DAY_MS) : { from: presetFor(nowMs - startMs) }
  return formatRoute('runs', { process, ...range, run })
}

export const runLink = (process: string, [at, , , meta, uid]: OverviewRun, nowMs: number): string =>
  linkToRun(process, parseTime(at), formatRunId({ at, process, meta, uid }), nowMs)

/** `Failed · 12 m 37 s · 24 Nov 03:00:12 · region eu` */
export function describeRun([at, state, ms, meta]: OverviewRun, nowMs: number): string {
  const length = state === 'running' ? nowMs - parseTime(at) : ms
  const parts = [RUN_STATE_TEXT[state], formatDuration(length), formatMoment(parseTime(at), nowMs), meta]
  return parts.filter((part) => part !== null).join(' · ')
}
