// One run beside the timeline: its marks, how it compares, its neighbours, and what the same process and meta sent around it.
import type { ExceptionText, MetricPoint, SummaryRow, Timing } from '../kit/answers.ts'
import { h } from '../kit/dom.ts'
import { formatDuration, formatValue } from '../kit/format-number.ts'
import { formatClock, formatMoment, parseTime, timeElement } from '../kit/format-time.ts'
import { icon } from '../kit/icons.ts'
import type { App } from '../kit/page.ts'
import { createPoll } from '../kit/poll.ts'
import { createRegion } from '../kit/region.ts'
import { formatRoute } from '../kit/route.ts'
import { fixRange } from '../kit/time-range.ts'
import { type Run, STATE_TEXT, toRun } from '../timeline/run.ts'
import { askRun, type RunContext } from './ask-run.ts'
import { EMPTY_TEXT } from './exception-group.ts'

const RUNNING_EVERY_MS = 2_000

export interface RunPanel {
  readonly element: HTMLElement
  /** undefined: none is chosen. */
  show(id: string | undefined): void
  close(): void
}

export interface RunPanelOptions {
  close(): void
  choose(id: string): void
}

export function createRunPanel(app: App, options: RunPanelOptions): RunPanel {
  const { nowMs } = app
  const region = createRegion()
  const title = h('h2', { tabindex: -1 }, 'Run')
  const close = h(
    'button',
    { type: 'button', class: 'button button-icon-only', 'aria-label': 'Close', onclick: options.close },
    icon('close'),
  )
  const element = h(
    'aside',
    { class: 'panel', 'aria-label': 'The chosen run' },
    h('header', { class: 'panel-header' }, title, close),
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
        return region.empty(
          nowMs(),
          'There is no such run',
          h('p', { class: 'muted' }, 'Its marks may have gone with the retention.'),
        )
      title.textContent = context.run.process
      region.ready(nowMs(), ...parts(context, nowMs(), options.choose))
    },
    fail: (error) => region.fail(error, () => poll.now()),
  })
  element.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') options.close()
  })

  return {
    element,
    show(id) {
      if (id === shown) return
      if (shown === undefined) opener = document.activeElement
      shown = id
      element.hidden = id === undefined
      if (id === undefined) {
        if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
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
  const { run, usual, neighbours, metrics, exceptions } = context
  return [
    h('p', { class: `state state-${run.state}` }, h('i', { class: `mark mark-${run.state}` }), STATE_TEXT[run.state]),
    facts(run, nowMs),
    compare(run, usual, nowMs),
    section(
      'Neighbours',
      neighbours.length === 0
        ? none('No other run of this process and meta near it.')
        : neighbourList(neighbours, run, nowMs, choose),
    ),
    section('Metrics around it', metrics.length === 0 ? none('No metrics.') : metricList(metrics)),
    section('Exceptions around it', exceptions.length === 0 ? none('No exceptions.') : exceptionList(exceptions)),
    moreLinks(run),
  ]
}

const section = (name: string, content: HTMLElement) =>
  h('section', { class: 'panel-part' }, h('h3', {}, name), content)
const none = (text: string) => h('p', { class: 'muted' }, text)
const fact = (name: string, value: Node | string) => h('div', {}, h('dt', {}, name), h('dd', {}, value))

function facts({ process, meta, uid, state, startMs, endMs, timing }: Run, nowMs: number): HTMLElement {
  const { started_at, ended_at, duration_ms } = timing
  const mark = (at: string | null, ms: number, absent: string) =>
    at === null ? absent : timeElement(at, formatMoment(ms, nowMs))
  const noEnd = state === 'running' ? 'not yet' : 'never came'
  return h(
    'dl',
    { class: 'facts' },
    fact('Process', process),
    fact('Meta', meta ?? 'without'),
    fact('Uid', uid === null ? 'without' : h('code', {}, uid)),
    fact('Start mark', mark(started_at, startMs, 'never came')),
    fact('End mark', mark(ended_at, state === 'orphan' ? startMs : endMs, noEnd)),
    fact(
      state === 'running' ? 'So far' : 'Took',
      formatDuration(state === 'running' ? Math.max(0, nowMs - startMs) : duration_ms),
    ),
  )
}

/** How it stands to the day around it. */
function compare(run: Run, usual: SummaryRow | undefined, nowMs: number): HTMLElement {
  const ms = run.state === 'running' ? nowMs - run.startMs : run.timing.duration_ms
  if (usual?.p50_ms == null || usual.p95_ms === null || ms === null) return h('div', { hidden: true })
  const verdict =
    ms > usual.p95_ms ? 'Slower than 95 in 100' : ms > usual.p50_ms ? 'In the slower half' : 'In the faster half'
  return h(
    'p',
    { class: 'verdict' },
    h('strong', {}, verdict),
    ` of the day around it: median ${formatDuration(usual.p50_ms)}, p95 ${formatDuration(usual.p95_ms)}.`,
  )
}

function neighbourList(
  neighbours: readonly Timing[],
  run: Run,
  nowMs: number,
  choose: (id: string) => void,
): HTMLElement {
  const items = neighbours.map(toRun).map((other) => {
    const label = `${formatMoment(other.startMs, nowMs)} · ${STATE_TEXT[other.state].toLowerCase()}`
    const length = h(
      'span',
      { class: 'number' },
      other.timing.duration_ms === null ? '' : formatDuration(other.timing.duration_ms),
    )
    if (other.id === run.id) return h('li', { 'aria-current': 'true' }, h('span', {}, `${label}, this one`), length)
    return h('li', {}, h('button', { type: 'button', class: 'link', onclick: () => choose(other.id) }, label), length)
  })
  return h('ol', { class: 'rows' }, ...items)
}

const metricList = (metrics: readonly MetricPoint[]) =>
  h(
    'ul',
    { class: 'rows' },
    ...metrics.map(({ at, name, value }) =>
      h(
        'li',
        {},
        timeElement(at, formatClock(parseTime(at))),
        h('span', { class: 'grow' }, name),
        h('strong', { title: String(value) }, formatValue(value)),
      ),
    ),
  )

const exceptionList = (exceptions: readonly ExceptionText[]) =>
  h(
    'ul',
    { class: 'texts' },
    ...exceptions.map(({ at, exception, fingerprint, process }) =>
      h(
        'li',
        {},
        h(
          'p',
          { class: 'texts-head' },
          timeElement(at, formatClock(parseTime(at))),
          h('a', { href: formatRoute('exceptions', { group: fingerprint, process }) }, 'The group'),
        ),
        h('pre', { tabindex: 0, 'aria-label': 'Exception' }, exception || EMPTY_TEXT),
      ),
    ),
  )

function moreLinks({ process, meta, startMs, endMs }: Run): HTMLElement {
  const end = Number.isFinite(endMs) ? endMs : startMs
  const marginMs = Math.max(60_000, (end - startMs) * 2)
  const around = fixRange(startMs - marginMs, end + marginMs)
  const params = { process, meta: meta ?? '', ...around }
  return h(
    'div',
    { class: 'button-row' },
    h('a', { class: 'button button-small', href: formatRoute('runs', params) }, 'Zoom to it'),
    h('a', { class: 'button button-small', href: formatRoute('metrics', { process, ...around }) }, 'Metrics around it'),
  )
}
