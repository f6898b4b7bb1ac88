// The timeline's runs as a table with pages, for reading, searching and screen readers.
import { ROWS_MAX } from '../kit/api.ts'
import { createDataTable, subLine } from '../kit/data-table.ts'
import { fill, h, nameText } from '../kit/dom.ts'
import { formatCount, formatDuration } from '../kit/format-number.ts'
import { formatDay, formatMoment, timeElement } from '../kit/format-time.ts'
import { describeState, isTrouble, lengthMs, nameOf, type Run } from '../timeline/run.ts'
import type { RunsFound } from '../timeline/run-feed.ts'

const PAGE = 25

export interface RunTableOptions {
  nowMs(): number
  choose(run: Run): void
  turnTo(page: number): void
  /** The first line of the newest exception of a run. */
  whyOf(run: Run): string | undefined
}

export function createRunTable({ nowMs, choose, turnTo, whyOf }: RunTableOptions) {
  let chosen: string | undefined
  let all: readonly Run[] = []
  const table = createDataTable<Run>({
    caption: 'Runs',
    keyOf: ({ id }) => id,
    signatureOf: (run) =>
      [
        ...[run.state, run.exceptions, isTrouble(run) && whyOf(run)],
        run.state === 'running' ? Math.floor(nowMs() / 1000) : `${run.endMs} ${formatDay(nowMs())}`,
      ].join(' '),
    isChosen: ({ id }) => id === chosen,
    toExport: ({ timing: { metrics: _, ...timing }, exceptions }) => ({ ...timing, exceptions }),
    exported: () => all,
    columns: [
      {
        label: 'Run',
        cell: (run) => [
          h(
            'button.link.strong.clip',
            {
              type: 'button',
              title: run.process,
              'aria-label': `Run of ${nameOf(run)}, ${formatMoment(run.startMs, nowMs())}`,
              onclick: () => choose(run),
            },
            nameText(run.process),
          ),
          subLine([run.meta, run.uid].filter((part) => part !== null).join(' · ')),
          h('span.sub.on-phone', formatMoment(run.startMs, nowMs())),
        ],
      },
      {
        label: 'State',
        cell: (run) => {
          const why = isTrouble(run) ? whyOf(run) : undefined
          return [
            h(
              'span',
              { class: isTrouble(run) ? 'state state-failed' : `state state-${run.state}` },
              h('i', { class: `mark mark-${run.state}` }),
              describeState(run),
            ),
            why !== undefined &&
              h('button.link.sub.clip.why', { type: 'button', onclick: () => choose(run) }, nameText(why)),
          ]
        },
      },
      {
        label: 'Started',
        isMinor: true,
        cell: (run) =>
          run.timing.started_at === null ? '–' : timeElement(run.timing.started_at, formatMoment(run.startMs, nowMs())),
      },
      {
        label: 'Ended',
        isExtra: true,
        cell: ({ timing, endMs }) =>
          timing.ended_at === null ? '–' : timeElement(timing.ended_at, formatMoment(endMs, nowMs())),
      },
      {
        label: 'Duration',
        isNumber: true,
        cell: (run) => formatDuration(lengthMs(run, nowMs())),
      },
    ],
  })

  const position = h('p.muted')
  const turn = (label: string) => h('button.button.button-small', { type: 'button' }, label)
  const [newer, older] = [turn('Newer'), turn('Older')]
  let shownPage = 1
  newer.addEventListener('click', () => turnTo(shownPage - 1))
  older.addEventListener('click', () => turnTo(shownPage + 1))
  const pager = h('nav.pager', { 'aria-label': 'Pages of the table' }, position, h('div.button-row', newer, older))
  const place = h('div')

  return {
    element: h('div.card.card-table', h('h2', 'Runs'), place),
    /** `isOldestFirst` for what is still running: the oldest needs attention. */
    show({ runs, isCut }: RunsFound, page: number, chosenId: string | undefined, isOldestFirst: boolean) {
      chosen = chosenId
      all = isOldestFirst ? runs.toReversed() : runs
      const pages = Math.max(1, Math.ceil(runs.length / PAGE))
      shownPage = Math.min(Math.max(1, page), pages)
      const first = (shownPage - 1) * PAGE
      const shown = all.slice(first, first + PAGE)
      table.show(shown)
      const cut = `; the newest ${formatCount(ROWS_MAX)} are loaded, narrow the range to see older ones`
      const at = `${formatCount(first + 1)}–${formatCount(first + shown.length)} of ${formatCount(runs.length)}`
      position.textContent = `${at}${isCut ? cut : ''}`
      newer.disabled = shownPage <= 1
      older.disabled = shownPage >= pages
      fill(place, table.element, pager)
    },
  }
}
