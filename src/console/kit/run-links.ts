// Runs as the overview has them: their links, and their states in words and colours.

import type { OverviewRun, OverviewRunState } from '../../wire/overview.ts'
import { RUN_STATE_TEXT } from '../../wire/words.ts'
import { formatRunId, type Run } from '../timeline/run.ts'
import { formatDuration } from './format-number.ts'
import { formatMoment, parseTime } from './format-time.ts'
import { formatRoute } from './route.ts'
import { everyMs, fixRange, presetFor } from './time-range.ts'

/** The classes of base.css know no `exceptions`: such a run is as red as a failed one. */
export const markOf = (state: OverviewRunState): string => (state === 'exceptions' ? 'failed' : state)

export const isTrouble = (state: OverviewRunState): boolean =>
  state === 'failed' || state === 'exceptions' || state === 'abandoned'

const DAY_MS = 86_400_000
const LONGEST_MS = 27 * 86_400_000

/** So many links stay the same from one poll to the next. */
const STEP_MS = 300_000

type Linked = Pick<Run, 'process' | 'startMs' | 'id'> & { readonly state: string }

/** Over a range that holds the run also when the link is followed later: since it began, of an old one a day around. */
export function linkToRun({ process, startMs, id: run, state }: Linked, nowMs: number): string {
  const agoMs = nowMs - startMs
  const from = presetFor(agoMs)
  const fixed = () =>
    agoMs > LONGEST_MS
      ? fixRange(startMs - DAY_MS, startMs + DAY_MS)
      : fixRange(startMs - everyMs(from.slice(1)) / 4, Math.ceil(nowMs / STEP_MS) * STEP_MS)
  return formatRoute('runs', { process, ...(state === 'running' ? { from } : fixed()), run })
}

export const runLink = (process: string, [at, state, , meta, uid]: OverviewRun, nowMs: number): string =>
  linkToRun({ process, startMs: parseTime(at), id: formatRunId({ at, process, meta, uid }), state }, nowMs)

/** `Failed · 12 m 37 s · 24 Nov 03:00:12 · region eu` */
export function describeRun([at, state, ms, meta]: OverviewRun, nowMs: number): string {
  const length = state === 'running' ? nowMs - parseTime(at) : ms
  const parts = [RUN_STATE_TEXT[state], formatDuration(length), formatMoment(parseTime(at), nowMs), meta]
  return parts.filter((part) => part !== null).join(' · ')
}
