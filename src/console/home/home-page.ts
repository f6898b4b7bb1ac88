// Home answers "is everything all right?": one sentence, then all processes, those with trouble first. The URL holds search, sort order and
// state.
import type { Alert, AlertPage } from '../../wire/alerts.ts'
import type { ExceptionGroups } from '../../wire/exceptions.ts'
import type { ProcessEntry } from '../../wire/processes.ts'
import type { Summary } from '../../wire/timings.ts'
import { type Api, ApiError } from '../kit/api.ts'
import { fill, h, nameText, note, setText } from '../kit/dom.ts'
import { formatCount, plural } from '../kit/format-number.ts'
import { type App, type Page, pageHeader } from '../kit/page.ts'
import { createPoll } from '../kit/poll.ts'
import { createRegion } from '../kit/region.ts'
import { changeParams, formatRoute, type Params } from '../kit/route.ts'
import { createHomeFilters, readHomeView } from './home-filters.ts'
import { type DayFigures, type HomeRow, selectRows, toRows, VERDICTS, type Verdict } from './home-rows.ts'
import { createHomeTable } from './home-table.ts'
import { createLatestFeed, type Latest } from './latest-feed.ts'

const LATEST_EVERY_MS = 5_000
const DAY_EVERY_MS = 60_000
const DAY = '-24h'
/** A single page: Home needs only counts, but groups contain texts. */
const GROUPS_MAX = 1_000

export function openHomePage(app: App): Page {
  const { api, nowMs } = app
  let params = new URLSearchParams()
  let latest: Latest | undefined
  let day: DayFigures | undefined
  let entries: readonly ProcessEntry[] = []

  const change = (changes: Params) => app.go('home', changeParams(params, changes), 'replace')
  const feed = createLatestFeed(api, nowMs)
  const firing = createFiringList(api, LATEST_EVERY_MS)
  const region = createRegion()
  const sentence = h('p.answer', { role: 'status' })
  const dayLine = h('p.day-line')
  const filters = createHomeFilters(change)
  const table = createHomeTable(nowMs)
  const card = h('div.card.card-table', filters.element, table.element)

  const latestPoll = createPoll<Latest>({
    everyMs: () => LATEST_EVERY_MS,
    async ask(signal) {
      const [found, processes] = await Promise.all([feed.refresh(signal), app.askProcesses(signal)])
      entries = processes
      return found
    },
    show(found) {
      latest = found
      show()
    },
    fail: (error) => region.fail(error, () => latestPoll.now()),
  })
  const dayPoll = createPoll<DayFigures>({
    everyMs: () => DAY_EVERY_MS,
    async ask(signal) {
      const [{ rows }, { groups, next }] = await Promise.all([
        api.get<Summary>('api/timings/summary', { from: DAY }, signal),
        api.get<ExceptionGroups>('api/exceptions/groups', { from: DAY, limit: GROUPS_MAX }, signal),
      ])
      return { totals: rows, groups, hasMoreGroups: next !== null }
    },
    show(answer) {
      day = answer
      show()
    },
    fail() {}, // the poll of the runs reports the failure
  })

  function show(): void {
    if (latest === undefined) return
    const rows = toRows(latest, entries, day, nowMs())
    if (rows.length === 0) {
      showNone()
      return
    }
    const view = readHomeView(params)
    showSentence(rows)
    showDay(rows)
    filters.show(view, rows)
    table.show(selectRows(rows, view, nowMs()))
    region.ready(nowMs(), sentence, dayLine, card)
  }

  function showSentence(rows: readonly HomeRow[]): void {
    const text = describeAll(rows)
    if (sentence.textContent === text) return
    const worst = rows.some(({ verdict }) => isBad(verdict))
      ? 'bad'
      : rows.some(({ verdict }) => verdict === 'overdue')
        ? 'warn'
        : 'good'
    sentence.className = `answer ${worst}`
    setText(sentence, text)
  }

  function showDay(rows: readonly HomeRow[]): void {
    if (day === undefined) return
    const sum = (of: (row: HomeRow) => number) => rows.reduce((total, row) => total + of(row), 0)
    const [failed, unfinished, exceptions] = [
      sum((row) => row.failed),
      sum((row) => row.unfinished),
      sum((row) => row.exceptions),
    ]
    const link = (page: string, more: Params, text: string, isBad = true) =>
      h('a', { class: isBad ? 'bad' : undefined, href: formatRoute(page, { from: DAY, ...more }) }, text)
    const links = [
      link('runs', { state: 'failed' }, `${plural(failed, 'run')} failed`, failed > 0),
      ...(unfinished > 0 ? [link('runs', { state: 'abandoned' }, `${formatCount(unfinished)} never finished`)] : []),
      ...(exceptions > 0
        ? [link('exceptions', {}, `${day.hasMoreGroups ? 'at least ' : ''}${plural(exceptions, 'exception')}`)]
        : []),
    ]
    fill(dayLine, h('span.muted', 'Last 24 hours:'), ...links)
  }

  function showNone(): void {
    region.empty(
      nowMs(),
      'No processes yet',
      note('A process appears as soon as your code sends its first event.'),
      h('a.button.button-main', { href: formatRoute('welcome') }, 'Send the first event'),
    )
  }

  region.loading()
  return {
    element: h(
      'div.page',
      pageHeader('Home', 'Every process that sent something in the last 30 days.'),
      firing.element,
      region.element,
    ),
    show(next) {
      const isFirst = latest === undefined
      params = next
      show()
      if (!isFirst) return
      latestPoll.now()
      dayPoll.now()
      firing.start()
    },
    close() {
      latestPoll.stop()
      dayPoll.stop()
      firing.close()
    },
  }
}

const isBad = (verdict: Verdict): boolean =>
  verdict === 'failed' || verdict === 'unfinished' || verdict === 'exceptions'

const WORDS: Readonly<Partial<Record<Verdict, string>>> = {
  failed: 'failed',
  unfinished: 'never finished',
  exceptions: 'with exceptions',
  overdue: 'overdue',
}

/** `3 failed, 1 overdue, 196 fine.` */
export function describeAll(rows: readonly Pick<HomeRow, 'verdict'>[]): string {
  const count = (of: Verdict) => rows.filter(({ verdict }) => verdict === of).length
  const troubles = VERDICTS.flatMap((verdict) => {
    const [n, word] = [count(verdict), WORDS[verdict]]
    return n > 0 && word !== undefined ? [`${formatCount(n)} ${word}`] : []
  })
  const fine = count('fine') + count('running') + count('quiet')
  if (troubles.length === 0)
    return `All ${plural(fine, 'process', 'processes')} fine.`.replace('All 1 process', 'The only process is')
  return `${[...troubles, `${formatCount(fine)} fine`].join(', ')}.`
}

// Firing alerts, as links to the Watches page. Hidden without alerts, and if the session may not read them.
const ALERTS_MAX = 5
const NOTHING: AlertPage = { alerts: [], next: null }

/** Loads when started, then every `everyMs`. */
function createFiringList(api: Api, everyMs: number) {
  const list = h('ul')
  const element = h('section.firing', { 'aria-label': 'Firing alerts', hidden: true }, list)
  let shown = ''

  const poll = createPoll<AlertPage>({
    everyMs: () => everyMs,
    ask: (signal) => api.get<AlertPage>('api/alerts', { state: 'firing', limit: ALERTS_MAX }, signal),
    show,
    fail(error) {
      // The table of processes reports any other failure; the alerts stay as they are.
      if (error instanceof ApiError && (error.status === 403 || error.status === 404)) show(NOTHING)
    },
  })

  function show({ alerts, next }: AlertPage): void {
    const signature = JSON.stringify([alerts.map(({ id, summary }) => [id, summary]), next !== null])
    if (signature === shown) return
    shown = signature
    element.hidden = alerts.length === 0
    fill(list, ...alerts.map(toItem), next !== null && h('li', watchesLink('More alerts')))
  }

  return { element, start: () => poll.now(), close: () => poll.stop() }
}

const watchesLink = (content: string | Node) => h('a', { href: formatRoute('watches') }, content)
const toItem = ({ summary }: Alert) => h('li', h('span.badge.badge-bad', 'firing'), ' ', watchesLink(nameText(summary)))
