// Home's table of processes: state, last run and its usual duration, trouble in the last 24 hours, and the last runs as
// bars.
import { createDataTable, type DataTable, subLine } from '../kit/data-table.ts'
import { type Child, cutText, h, nameText, svg } from '../kit/dom.ts'
import { formatCount, formatDuration, plural } from '../kit/format-number.ts'
import { formatAgo, formatMoment } from '../kit/format-time.ts'
import { formatRoute, type Params } from '../kit/route.ts'
import { presetFor } from '../kit/time-range.ts'
import { describeState, isTrouble, lengthMs, type Run } from '../timeline/run.ts'
import { describeRatio, OVERDUE_TIMES } from '../timeline/usual.ts'
import { VERDICT_TEXT } from './home-filters.ts'
import type { HomeRow } from './home-rows.ts'
import { STRIP } from './latest-feed.ts'
import { SLOWER } from './week-feed.ts'

const DAY = '-24h'

export function createHomeTable(nowMs: () => number): DataTable<HomeRow> {
  return createDataTable<HomeRow>({
    caption: 'Processes',
    keyOf: ({ process }) => process,
    signatureOf: (row) => signature(row, nowMs()),
    isLong: true,
    toExport: ({ process, verdict, last, usualMs, week, lastSeenMs, failed, unfinished, exceptions }) => ({
      process,
      state: verdict,
      last_started_at: last?.timing.started_at,
      last_duration_ms: last?.timing.duration_ms,
      usual_ms: usualMs,
      median_24h_ms: week?.nowMs,
      median_7d_before_ms: week?.beforeMs,
      last_seen_at: new Date(lastSeenMs).toISOString(),
      failed_24h: failed,
      never_finished_24h: unfinished,
      exceptions_24h: exceptions,
    }),
    columns: [
      {
        label: 'Process',
        cell: ({ process, metas, runs }) => {
          const named = describeMetas(metas)
          return [
            h('a.strong.clip', { title: process, href: runsOf(process, runs, nowMs()) }, nameText(process)),
            named !== '' && subLine(named),
          ]
        },
      },
      { label: 'State', cell: (row) => stateOf(row, nowMs()) },
      { label: 'Run', isMinor: true, cell: (row) => runCell(row, nowMs()) },
      { label: 'Took', isNumber: true, isMinor: true, cell: (row) => duration(row, nowMs()) ?? '–' },
      { label: '24 h vs week', isNumber: true, isMinor: true, cell: (row) => weekCell(row) },
      { label: 'Last 24 h', isNumber: true, cell: (row) => troubles(row) ?? '–' },
      {
        label: 'Last runs',
        isExtra: true,
        cell: ({ runs }) =>
          runs.length === 0 ? '–' : runStrip(runs, nowMs(), (run) => void location.assign(runOf(run, nowMs()))),
      },
    ],
  })
}

const HEADLINE_MAX = 120

/** The verdict, and for trouble the first line of the exception; both lead to the run that decided. */
function stateOf({ process, verdict, last, why }: HomeRow, nowMs: number): Child[] {
  const mark = h('i', { class: `mark mark-${verdict}` })
  const state = `state state-${verdict}`
  if (verdict === 'fine' || verdict === 'running' || verdict === 'quiet')
    return [h('span', { class: state }, mark, VERDICT_TEXT[verdict])]
  const href =
    verdict === 'firing'
      ? formatRoute('watches')
      : last === undefined
        ? formatRoute('exceptions', { process, from: DAY })
        : runOf(last, nowMs)
  return [
    h('a', { class: `quiet-link ${state}`, href }, mark, VERDICT_TEXT[verdict]),
    why !== undefined && h('a.sub.clip.why', { href, title: why }, nameText(cutText(why, HEADLINE_MAX))),
  ]
}

/** When the shown run started; if it is not the newest one, that is said. */
function runCell({ last, newer, lastSeenMs, metas }: HomeRow, nowMs: number): Child[] {
  const ago = (ms: number) => formatAgo(ms, nowMs)
  const title = (ms: number) => new Date(ms).toISOString()
  if (last === undefined) return ['–', h('span.sub.when', { title: title(lastSeenMs) }, `seen ${ago(lastSeenMs)}`)]
  const about = [
    metas.length > 1 && last.meta !== null && last.meta,
    newer !== undefined && `newest: ${ago(newer.startMs)}`,
  ].filter((text) => text !== false)
  return [
    h('a.quiet-link.when', { title: title(last.startMs), href: runOf(last, nowMs) }, ago(last.startMs)),
    about.length > 0 && h('span.sub.clip', about.join(' · ')),
  ]
}

function weekCell({ week }: HomeRow): Child {
  if (week === undefined) return '–'
  const { nowMs, beforeMs } = week
  const title = `Median of the last 24 hours ${formatDuration(nowMs)}, of the 7 days before ${formatDuration(beforeMs)}`
  return h('span', { class: week.ratio > SLOWER ? 'warn' : undefined, title }, describeRatio(nowMs, beforeMs, 'same'))
}

/** A link to the runs of a process, with the shortest preset range that contains the runs of its strip. */
const runsOf = (process: string, runs: readonly Run[], nowMs: number): string =>
  formatRoute('runs', { process, from: presetFor(nowMs - (runs.slice(0, STRIP).at(-1)?.startMs ?? nowMs - 1)) })

const runOf = (run: Run, nowMs: number): string =>
  formatRoute('runs', { process: run.process, from: presetFor(nowMs - run.startMs), run: run.id })

function signature(row: HomeRow, nowMs: number): string {
  const { verdict, last, lastSeenMs, runs, failed, unfinished, exceptions, week, why } = row
  const turn = last?.state === 'running' ? Math.floor(nowMs / 1000) : Math.floor(nowMs / 60_000)
  const strip = runs.map(({ startMs, state, exceptions }) => [startMs, state, exceptions])
  return JSON.stringify([verdict, last?.id, lastSeenMs, failed, unfinished, exceptions, week?.ratio, why, turn, strip])
}

function duration({ last, usualMs }: HomeRow, nowMs: number): (HTMLElement | string)[] | undefined {
  const ms = last === undefined ? null : lengthMs(last, nowMs)
  if (last === undefined || ms === null) return undefined
  const text = last.state === 'running' ? `${formatDuration(ms)} so far` : formatDuration(ms)
  if (usualMs === undefined) return [text]
  // how long a run takes that is not over, or how fast one failed, is not compared
  if (last.state === 'running' || last.state === 'failed')
    return [text, h('span.sub', `usually ${formatDuration(usualMs)}`)]
  const isSlow = !isTrouble(last) && ms > OVERDUE_TIMES * usualMs
  return [
    text,
    h(
      'span',
      { class: isSlow ? 'sub warn' : 'sub', title: `Usually ${formatDuration(usualMs)}` },
      describeRatio(ms, usualMs),
    ),
  ]
}

function troubles({ process, failed, unfinished, exceptions }: HomeRow): HTMLElement | undefined {
  if (failed + unfinished + exceptions === 0) return undefined
  const link = (page: string, params: Params, text: string) =>
    h('a.bad', { href: formatRoute(page, { process, from: DAY, ...params }) }, text)
  return h(
    'span.failures',
    failed > 0 && link('runs', { state: 'failed' }, `${formatCount(failed)} failed`),
    unfinished > 0 && link('runs', { state: 'abandoned' }, `${formatCount(unfinished)} never finished`),
    exceptions > 0 && link('exceptions', {}, plural(exceptions, 'exception')),
  )
}

const METAS_SHOWN = 3

function describeMetas(metas: readonly (string | null)[]): string {
  const named = metas.filter((meta) => meta !== null)
  const more = named.length - METAS_SHOWN
  return more > 0 ? `${named.slice(0, METAS_SHOWN).join(', ')} and ${formatCount(more)} more` : named.join(', ')
}

// The last runs of a process as bars, oldest first. The height is proportional to the square root of the duration, the
// colour shows the state. One path per colour: a page with 200 processes has 6,000 bars. A click opens the run; for
// keyboard and screen reader the process's link leads to the same runs.
const STEP = 6
const BAR = 5
const HEIGHT = 26
const LEAST = 4

/** `runs` newest first. */
function runStrip(runs: readonly Run[], nowMs: number, choose: (run: Run) => void): SVGSVGElement {
  const shown = runs.slice(0, STRIP).toReversed()
  const longest = Math.max(1, ...shown.map((run) => lengthMs(run, nowMs) ?? 0))
  const first = STRIP - shown.length
  const paths = new Map<string, string>()
  for (const [i, run] of shown.entries()) {
    const height = Math.max(LEAST, Math.sqrt((lengthMs(run, nowMs) ?? 0) / longest) * HEIGHT)
    const bar = `M${(first + i) * STEP} ${HEIGHT}v${-height.toFixed(1)}h${BAR}v${height.toFixed(1)}z`
    paths.set(barOf(run), (paths.get(barOf(run)) ?? '') + bar)
  }
  const label = `Last ${plural(shown.length, 'run')}, ${shown.filter(isTrouble).length} with trouble`
  const strip = svg(
    'svg.strip',
    { viewBox: `0 0 ${STRIP * STEP} ${HEIGHT}`, role: 'img', 'aria-label': label },
    ...[...paths].map(([of, d]) => svg('path', { class: `bar bar-${of}`, d })),
  )
  const runAt = ({ clientX }: MouseEvent): Run | undefined => {
    const { left, width } = strip.getBoundingClientRect()
    return shown[Math.floor(((clientX - left) / width) * STRIP) - first]
  }
  strip.addEventListener('click', (event) => {
    const run = runAt(event)
    if (run !== undefined) choose(run)
  })
  strip.addEventListener('pointermove', (event) => {
    const run = runAt(event)
    const length = run && formatDuration(lengthMs(run, nowMs))
    strip.closest('td')!.title = run ? `${describeState(run)} · ${length} · ${formatMoment(run.startMs, nowMs)}` : ''
  })
  return strip
}

const barOf = (run: Run): string => (isTrouble(run) ? 'failed' : run.state)
