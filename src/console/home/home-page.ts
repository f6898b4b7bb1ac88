// Home answers "is everything all right?": one sentence, then all processes, those with trouble first. The URL holds
// search, sort order and state.
import type { ExceptionGroups } from '../../wire/exceptions.ts'
import type { Overview } from '../../wire/overview.ts'
import type { ProcessEntry } from '../../wire/processes.ts'
import type { Summary, SummaryRow } from '../../wire/timings.ts'
import { fill, h, note, setText } from '../kit/dom.ts'
import { formatCount, plural } from '../kit/format-number.ts'
import { formatMoment } from '../kit/format-time.ts'
import { type App, type Page, pageHeader } from '../kit/page.ts'
import { createPoll } from '../kit/poll.ts'
import { createRegion, emptyState } from '../kit/region.ts'
import { changeParams, formatRoute, type Params } from '../kit/route.ts'
import { createHomeFilters, readHomeView } from './home-filters.ts'
import { type DayFigures, type HomeRow, selectRows, toRows, type Verdict } from './home-rows.ts'
import { createHomeTable } from './home-table.ts'
import { createLatestFeed, hasNews, type Latest } from './latest-feed.ts'
import { describeOverall } from './overall.ts'
import { createWatchedFeed } from './watched-feed.ts'
import { WEEK_EVERY_MS } from './week-feed.ts'

const LATEST_EVERY_MS = 5_000
const WATCHED_EVERY_MS = 10_000
const DAY_EVERY_MS = 60_000
/** A slow store answers for the day less often: these questions take at most this share of its time. */
const DAY_SHARE = 1 / 10
const DAY = '-24h'
/** A single page: Home needs only counts, but groups contain texts. */
const GROUPS_MAX = 1_000
/** What may follow one of these in the overview is silent; nothing after others is. */
const WORSE: readonly string[] = ['failed', 'never_finished', 'silent']

export function openHomePage(app: App): Page {
  const { api, nowMs } = app
  let params = new URLSearchParams()
  let latest: Latest | undefined
  /** Shown with the next figures of the day: figures without its failures would contradict it. */
  let held: Latest | undefined
  /** What the figures of the day were last asked for; `counted`: what the shown ones have counted, and when. */
  let asked: Latest | undefined
  let counted: { readonly latest: Latest | undefined; readonly ms: number } | undefined
  let dayAskedMs = 0
  let dayTookMs = 0
  let answeredMs = 0
  let day: DayFigures | undefined
  let hasFailed = false
  let entries: readonly ProcessEntry[] = []
  let silent: ReadonlySet<string> = new Set()
  let before: readonly SummaryRow[] = []

  const change = (changes: Params) => app.go('home', changeParams(params, changes), 'replace')
  const feed = createLatestFeed(api, nowMs, () => app.changes.late())
  const firing = createWatchedFeed(app, WATCHED_EVERY_MS, () => show())
  const region = createRegion()
  const sentence = h('p.answer', { role: 'status' })
  const dayLine = h('p.day-line')
  const filters = createHomeFilters(change)
  const table = createHomeTable(nowMs)
  const unmatched = note('No process matches.')
  const card = h('div.card.card-table', filters.element, table.element, unmatched)

  const latestPoll = createPoll<Latest>({
    version: app.changes.version,
    everyMs: () => LATEST_EVERY_MS,
    async ask(signal) {
      const [found, processes, names] = await Promise.all([
        feed.refresh(signal),
        app.askProcesses(signal),
        askSilent(signal),
      ])
      entries = processes
      silent = names
      return found
    },
    show(found) {
      answeredMs = nowMs()
      const isDue = answeredMs - dayAskedMs >= Math.max(LATEST_EVERY_MS, dayTookMs / DAY_SHARE)
      asked ??= found
      if (isDue && !hasFailed && hasNews(found, asked)) {
        held = found
        dayPoll.now()
      } else showLatest(found)
    },
    fail: (error) => region.fail(error, () => latestPoll.now()),
  })
  const dayPoll = createPoll<DayFigures>({
    version: app.changes.version,
    everyMs: () => DAY_EVERY_MS,
    async ask(signal) {
      dayAskedMs = nowMs()
      asked = held ?? latest
      const [{ rows }, { groups, next, hidden }] = await Promise.all([
        api.get<Summary>('api/timings/summary', { from: DAY }, signal),
        api.get<ExceptionGroups>('api/exceptions/groups', { from: DAY, limit: GROUPS_MAX }, signal),
      ])
      const hiddenGroups = (hidden?.resolved ?? 0) + (hidden?.ignored ?? 0)
      return { totals: rows, groups, hasMoreGroups: next !== null, hiddenGroups }
    },
    show(answer) {
      if (day === undefined) weekPoll.now() // the sentence does not wait behind the longest question
      day = answer
      dayTookMs = nowMs() - dayAskedMs
      counted = { latest: asked, ms: dayAskedMs }
      hasFailed = false
      showLatest(held ?? latest)
    },
    fail() {
      hasFailed = true // the sentence says so; the poll of the runs reports the failure
      showLatest(held ?? latest)
    },
  })

  const weekPoll = createPoll<readonly SummaryRow[]>({
    everyMs: () => WEEK_EVERY_MS,
    ask: (signal) => app.askWeekBefore(signal),
    show(answer) {
      before = answer
      show()
    },
    fail() {}, // without it the column has no figures
  })

  async function askSilent(signal: AbortSignal): Promise<ReadonlySet<string>> {
    const found = new Set<string>()
    let cursor: string | undefined
    do {
      const { processes, next } = await api.get<Overview>('api/overview', { cursor }, signal)
      for (const { process, state } of processes) if (state === 'silent') found.add(process)
      cursor = next !== null && WORSE.includes(processes.at(-1)!.state) ? next : undefined
    } while (cursor !== undefined)
    return found
  }

  function showLatest(found: Latest | undefined): void {
    latest = found
    held = undefined
    show()
  }

  function show(): void {
    // Everything appears at once: what comes later would move the rest, and an early sentence call too much fine.
    if (latest === undefined || (firing.watched() === undefined && !firing.hasFailed())) return
    if (day === undefined && !hasFailed) return
    const rows = toRows(latest, entries, day, firing.watched()?.alerts ?? [], before, silent, nowMs())
    if (rows.length === 0) {
      showNone()
      return
    }
    const view = readHomeView(params)
    const maintenance = firing.watched()?.maintenance
    showSentence(rows)
    showDay(rows)
    filters.show(view, rows)
    const selected = selectRows(rows, view)
    table.show(selected)
    unmatched.hidden = selected.length > 0
    region.ready(answeredMs, maintenance, firing.element, sentence, dayLine, card)
  }

  function showSentence(rows: readonly HomeRow[]): void {
    const watched = firing.watched()
    const verdicts: Partial<Record<Verdict, number>> = {}
    for (const { verdict } of rows) verdicts[verdict] = (verdicts[verdict] ?? 0) + 1
    const { sentence: text, tone } = describeOverall({
      verdicts,
      firing: watched?.alerts.filter(({ acknowledged }) => acknowledged === null).length ?? 0,
      acknowledged: watched?.alerts.filter(({ acknowledged }) => acknowledged !== null).length ?? 0,
      unjudged: watched?.unjudged.length ?? 0,
      failingChannels: watched?.failingChannels ?? 0,
      isPartial: hasFailed || firing.hasFailed() || day?.hasMoreGroups === true,
    })
    if (sentence.textContent === text) return
    sentence.className = `answer ${tone}`
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
      ...(exceptions + day.hiddenGroups > 0
        ? [link('exceptions', {}, countText(exceptions, day), exceptions > 0)]
        : []),
    ]
    const isBehind = counted?.latest !== undefined && latest !== undefined && hasNews(latest, counted.latest)
    const when = isBehind ? `, counted at ${formatMoment(counted!.ms, nowMs())}` : ''
    fill(dayLine, h('span.muted', `Last 24 hours${when}:`), ...links)
  }

  const countText = (exceptions: number, { hasMoreGroups, hiddenGroups }: DayFigures): string =>
    `${hasMoreGroups ? 'at least ' : ''}${plural(exceptions, hiddenGroups > 0 ? 'unresolved exception' : 'exception')}`

  /** Alerts and channels can fail before anything was sent. */
  function showNone(): void {
    showSentence([])
    region.ready(
      answeredMs,
      firing.watched()?.maintenance,
      firing.element,
      sentence.textContent !== '' && sentence,
      emptyState(
        'No processes yet',
        note('A process appears as soon as your code sends its first event.'),
        h('a.button.button-main', { href: formatRoute('welcome') }, 'Send the first event'),
      ),
    )
  }

  region.loading()
  return {
    element: h(
      'div.page',
      pageHeader('Home', 'Every process that sent something in the last 30 days.'),
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
      weekPoll.stop()
      firing.close()
    },
  }
}
