// One run beside the timeline: its marks, how it compares with the runs before it, and what was sent during it.
import type { ExceptionText } from '../../wire/exceptions.ts'
import type { MetricPoint } from '../../wire/metrics.ts'
import type { OutputText } from '../../wire/outputs.ts'
import { copyButton, copyIcon } from '../kit/copy-button.ts'
import { button, fact, fill, h, nameText, note } from '../kit/dom.ts'
import { formatDuration, formatValue } from '../kit/format-number.ts'
import { formatClock, formatMoment, parseTime, timeElement } from '../kit/format-time.ts'
import { icon } from '../kit/icons.ts'
import type { App } from '../kit/page.ts'
import { createPoll } from '../kit/poll.ts'
import { createRegion } from '../kit/region.ts'
import { formatRoute } from '../kit/route.ts'
import { fixRange } from '../kit/time-range.ts'
import { EMPTY_TEXT, headline } from '../pages/exception-headline.ts'
import { describeState, isTrouble, lengthMs, type Run } from '../timeline/run.ts'
import { describeRatio } from '../timeline/usual.ts'
import { askRun, type RunContext } from './ask-run.ts'

const RUNNING_EVERY_MS = 2_000

interface RunPanelOptions {
  close(): void
  choose(id: string): void
}

export function createRunPanel(app: App, options: RunPanelOptions) {
  const { nowMs } = app
  const region = createRegion()
  const title = h('h2', { tabindex: -1 }, 'Run')
  const close = h(
    'button.button.button-icon-only',
    { type: 'button', 'aria-label': 'Close', onclick: options.close },
    icon('close'),
  )
  const element = h(
    'aside.panel.card',
    { 'aria-label': 'Chosen run' },
    h('header.panel-header', title, close),
    region.element,
  )
  element.hidden = true
  let shown: string | undefined
  let isRunning = false
  let opener: Element | null = null

  const poll = createPoll<RunContext | undefined>({
    everyMs: () => (isRunning ? RUNNING_EVERY_MS : 0),
    ask: (signal) => askRun(app, shown ?? '', signal),
    show(context) {
      isRunning = context?.run.state === 'running'
      if (context === undefined)
        return region.empty(nowMs(), 'Run not found', note('Its events may be older than the retention period.'))
      fill(title, nameText(context.run.process))
      region.ready(nowMs(), ...parts(context, nowMs(), options.choose))
    },
    fail: (error) => region.fail(error, () => poll.now()),
  })
  element.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') options.close()
  })

  return {
    element,
    /** undefined: no run is chosen. */
    show(id: string | undefined) {
      if (id === shown) return
      if (shown === undefined) opener = document.activeElement
      shown = id
      element.hidden = id === undefined
      if (id === undefined) {
        const label = opener?.ariaLabel
        const redrawn = [...document.querySelectorAll('[aria-label]')].find((it) => it.ariaLabel === label)
        const next = opener?.isConnected ? opener : (redrawn ?? document.querySelector('h1'))
        if (next instanceof HTMLElement) next.focus()
        return
      }
      region.reset()
      region.loading()
      title.textContent = 'Run'
      title.focus()
      poll.now()
    },
    close: () => poll.stop(),
  }
}

function parts(context: RunContext, nowMs: number, choose: (id: string) => void): HTMLElement[] {
  const { run, neighbours, metrics, exceptions, outputs, overlaps } = context
  const warning = (sent: readonly { readonly uid?: string }[]) =>
    overlaps && sent.some(({ uid }) => uid === undefined)
      ? note('Other runs were open at the same time: events without a uid may belong to one of them.')
      : undefined
  return [
    h(
      'p',
      { class: isTrouble(run) ? 'state state-failed' : `state state-${run.state}` },
      h('i', { class: `mark mark-${run.state}` }),
      describeState(run),
    ),
    facts(run, nowMs),
    compare(context, nowMs),
    section(
      'Exceptions',
      exceptions.length === 0 ? note('No exceptions in this run.') : exceptionList(exceptions),
      warning(exceptions),
    ),
    ...(outputs.length === 0 ? [] : [section('Output', outputList(outputs), warning(outputs))]),
    section(
      'Metrics',
      metrics.length === 0 ? note('No metrics in this run.') : metricList(metrics),
      warning(run.uid === null ? metrics.map(() => ({})) : []),
    ),
    section(
      'Runs before and after',
      neighbours.length === 1
        ? note('No other runs of this process and meta nearby.')
        : neighbourList(neighbours, run, nowMs, choose),
    ),
    moreLinks(run, nowMs),
  ]
}

const section = (name: string, content: HTMLElement, note?: HTMLElement) =>
  h('section.panel-part', h('h3', name), note, content)

function facts(run: Run, nowMs: number): HTMLElement {
  const { process, meta, uid, state, startMs, endMs, timing } = run
  const { started_at, ended_at } = timing
  const mark = (at: string | null, ms: number, absent: string) =>
    at === null ? absent : timeElement(at, formatMoment(ms, nowMs))
  return h(
    'dl.facts',
    fact(
      'Process',
      nameText(process),
      ' ',
      copyIcon('Copy process', () => process),
    ),
    fact('Meta', meta === null ? 'none' : nameText(meta)),
    uid === null
      ? fact('Uid', 'none')
      : fact(
          'Uid',
          h('code', uid),
          ' ',
          copyIcon('Copy uid', () => uid),
        ),
    fact('Started', mark(started_at, startMs, 'no start')),
    fact('Ended', mark(ended_at, started_at === null ? startMs : endMs, state === 'running' ? 'not yet' : 'no end')),
    fact(state === 'running' ? 'So far' : 'Duration', formatDuration(lengthMs(run, nowMs))),
  )
}

/** Compares the run with the runs before it; hidden if there are too few. */
function compare({ run, usualMs, previous }: RunContext, nowMs: number): HTMLElement {
  const ms = lengthMs(run, nowMs)
  const before = previous?.timing.duration_ms ?? null
  if (ms === null || (usualMs === undefined && before === null)) return h('div', { hidden: true })
  // How fast a run failed says nothing.
  if (run.state === 'failed' || (run.state === 'running' && (usualMs === undefined || ms <= usualMs)))
    return usualMs === undefined
      ? h('div', { hidden: true })
      : h('p.verdict', `Usually takes ${formatDuration(usualMs)}.`)
  const ratio = usualMs === undefined ? undefined : describeRatio(ms, usualMs, 'About as long as usual')
  return h(
    'p.verdict',
    ratio !== undefined && h('strong', ratio.startsWith('About') ? ratio : `${ratio} than usual`),
    ratio !== undefined && ` (median of the runs before it: ${formatDuration(usualMs!)}). `,
    before !== null && `The previous run took ${formatDuration(before)}${describeDifference(ms - before)}.`,
  )
}

const describeDifference = (ms: number): string =>
  ms === 0 ? '' : `, ${formatDuration(Math.abs(ms))} ${ms > 0 ? 'less' : 'more'}`

function neighbourList(neighbours: readonly Run[], run: Run, nowMs: number, choose: (id: string) => void): HTMLElement {
  const items = neighbours.map((other) => {
    const label = `${formatMoment(other.startMs, nowMs)}, ${describeState(other).toLowerCase()}`
    const length = h('span.number', formatDuration(lengthMs(other, nowMs)))
    if (other.id === run.id) return h('li', { 'aria-current': 'true' }, h('span', `${label}, this one`), length)
    const link = button(label, () => choose(other.id), { class: isTrouble(other) ? 'link bad' : 'link' })
    return h('li', link, length)
  })
  return h('ol.rows', ...items)
}

const metricList = (metrics: readonly MetricPoint[]) =>
  h(
    'ul.rows',
    ...metrics.map(({ at, name, value }) =>
      h(
        'li',
        timeElement(at, formatClock(parseTime(at))),
        h('span.grow', name),
        h('strong', { title: String(value) }, formatValue(value)),
      ),
    ),
  )

const exceptionList = (exceptions: readonly ExceptionText[]) =>
  h(
    'ul.texts',
    ...exceptions.map(({ at, exception, fingerprint, process }) =>
      h(
        'li',
        h(
          'p.texts-head',
          timeElement(at, formatClock(parseTime(at))),
          h('a', { href: formatRoute('exceptions', { group: fingerprint, process }) }, 'All like this'),
        ),
        exception !== '' && h('p.bad', headline(exception)),
        h('pre', { tabindex: 0, 'aria-label': 'Exception' }, exception || EMPTY_TEXT),
      ),
    ),
  )

const outputList = (outputs: readonly OutputText[]) =>
  h(
    'ul.texts',
    ...outputs.map(({ at, output }) =>
      h(
        'li',
        h('p.texts-head', timeElement(at, formatClock(parseTime(at)))),
        h('pre', { tabindex: 0, 'aria-label': 'Output' }, output),
      ),
    ),
  )

function moreLinks({ process, meta, startMs, endMs }: Run, nowMs: number): HTMLElement {
  const end = Math.min(endMs, nowMs)
  const marginMs = Math.max(60_000, (end - startMs) * 2)
  const around = fixRange(startMs - marginMs, Math.min(end + marginMs, nowMs))
  const params = { process, meta: meta ?? '', ...around }
  return h(
    'div.button-row',
    h('a.button.button-small', { href: formatRoute('runs', params) }, 'Zoom to this run'),
    h('a.button.button-small', { href: formatRoute('metrics', { process, ...around }) }, 'Metrics at that time'),
    copyButton('Copy link', () => location.href, 'button-small'),
  )
}
