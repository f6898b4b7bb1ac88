// Home's table of processes: state, last run and its usual duration, trouble in the last 24 hours, and the last runs as bars.
import { createDataTable, type DataTable, subLine } from '../kit/data-table.ts'
import { h, nameText, svg } from '../kit/dom.ts'
import { formatCount, formatDuration, plural } from '../kit/format-number.ts'
import { formatAgo, formatMoment } from '../kit/format-time.ts'
import { formatRoute, type Params } from '../kit/route.ts'
import { presetFor } from '../kit/time-range.ts'
import { describeState, isTrouble, lengthMs, type Run } from '../timeline/run.ts'
import { describeRatio, OVERDUE_TIMES } from '../timeline/usual.ts'
import { VERDICT_TEXT } from './home-filters.ts'
import type { HomeRow } from './home-rows.ts'
import { STRIP } from './latest-feed.ts'

const DAY = '-24h'

export function createHomeTable(nowMs: () => number): DataTable<HomeRow> {
  const none = () => h('span.muted', '–')
  const ago = (ms: number) => h('time', { datetime: new Date(ms).toISOString() }, formatAgo(ms, nowMs()))

  return createDataTable<HomeRow>({
    caption: 'Processes',
    keyOf: ({ process }) => process,
    signatureOf: (row) => signature(row, nowMs()),
    toExport: ({ process, verdict, last, usualMs, lastSeenMs, failed, unfinished, exceptions }) => ({
      process,
      state: verdict,
      last_started_at: last?.timing.started_at,
      last_duration_ms: last?.timing.duration_ms,
      usual_ms: usualMs,
      last_seen_at: new Date(lastSeenMs).toISOString(),
      failed_24h: failed,
      never_finished_24h: unfinished,
      exceptions_24h: exceptions,
    }),
    columns: [
      {
        label: 'Process',
        cell: ({ process, metas, runs }) => [
          h('a.strong.clip', { title: process, href: runsOf(process, runs, nowMs()) }, nameText(process)),
          subLine(describeMetas(metas)),
        ],
      },
      {
        label: 'State',
        cell: ({ verdict }) =>
          h(
            'span',
            { class: `state state-${verdict}` },
            h('i', { class: `mark mark-${verdict}` }),
            h('span', VERDICT_TEXT[verdict]),
          ),
      },
      {
        label: 'Last run',
        isMinor: true,
        cell: ({ last, lastSeenMs }) =>
          last === undefined
            ? [none(), h('span.sub', 'seen ', ago(lastSeenMs))]
            : h('a.quiet-link', { href: runOf(last, nowMs()) }, ago(last.startMs)),
      },
      { label: 'Took', isNumber: true, isMinor: true, cell: (row) => duration(row, nowMs()) ?? none() },
      { label: 'Last 24 h', isNumber: true, cell: (row) => troubles(row) ?? none() },
      {
        label: 'Last runs',
        isExtra: true,
        cell: ({ runs }) =>
          runs.length === 0 ? none() : runStrip(runs, nowMs(), (run) => void location.assign(runOf(run, nowMs()))),
      },
    ],
  })
}

/** A link to the runs of a process, with the shortest preset range that contains the runs of its strip. */
const runsOf = (process: string, runs: readonly Run[], nowMs: number): string =>
  formatRoute('runs', { process, from: presetFor(nowMs - (runs.at(-1)?.startMs ?? nowMs - 1)) })

const runOf = (run: Run, nowMs: number): string =>
  formatRoute('runs', { process: run.process, from: presetFor(nowMs - run.startMs), run: run.id })

function signature(row: HomeRow, nowMs: number): string {
  const { verdict, last, lastSeenMs, runs, failed, unfinished, exceptions } = row
  const turn = last?.state === 'running' ? Math.floor(nowMs / 1000) : Math.floor(nowMs / 60_000)
  const strip = runs.map(({ startMs, state, exceptions }) => [startMs, state, exceptions])
  return JSON.stringify([verdict, lastSeenMs, failed, unfinished, exceptions, turn, strip])
}

function duration({ last, usualMs }: HomeRow, nowMs: number): (HTMLElement | string)[] | undefined {
  const ms = last === undefined ? null : lengthMs(last, nowMs)
  if (last === undefined || ms === null) return undefined
  const text = last.state === 'running' ? `${formatDuration(ms)} so far` : formatDuration(ms)
  if (usualMs === undefined) return [text]
  if (last.state === 'running' && ms <= OVERDUE_TIMES * usualMs)
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

// The last runs of a process as bars, oldest first. The height is proportional to the square root of the duration, the colour shows the
// state. A click opens the run; for keyboard and screen reader the process's link leads to the same runs.
const STEP = 6
const BAR = 5
const HEIGHT = 26
const LEAST = 4

/** `runs` newest first. */
function runStrip(runs: readonly Run[], nowMs: number, choose: (run: Run) => void): SVGSVGElement {
  const shown = runs.slice(0, STRIP).toReversed()
  const longest = Math.max(1, ...shown.map((run) => lengthMs(run, nowMs) ?? 0))
  const failed = shown.filter(isTrouble).length
  const first = STRIP - shown.length
  return svg(
    'svg.strip',
    {
      viewBox: `0 0 ${STRIP * STEP} ${HEIGHT}`,
      role: 'img',
      'aria-label': `Last ${plural(shown.length, 'run')}, ${failed} with trouble`,
    },
    ...shown.map((run, i) => {
      const height = Math.max(LEAST, Math.sqrt((lengthMs(run, nowMs) ?? 0) / longest) * HEIGHT)
      const rect = svg(
        'rect',
        {
          class: `bar bar-${barOf(run)}`,
          x: (first + i) * STEP,
          y: (HEIGHT - height).toFixed(1),
          width: BAR,
          height: height.toFixed(1),
          rx: 1,
        },
        svg(
          'title',
          `${describeState(run)} · ${formatDuration(lengthMs(run, nowMs))} · ${formatMoment(run.startMs, nowMs)}`,
        ),
      )
      rect.addEventListener('click', () => choose(run))
      return rect
    }),
  )
}

const barOf = (run: Run): string => (isTrouble(run) ? 'failed' : run.state)
