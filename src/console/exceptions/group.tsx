// One group of exceptions: its first line is the heading, then the whole text, when it occurred, in which runs, and last
// what it is recognized by.
import type { ExceptionGroup, ExceptionGroups, ExceptionText } from '../../wire/exceptions.ts'
import { countTicks } from '../kit/axis-values.ts'
import { DownloadMenu } from '../kit/download-menu.tsx'
import { formatCount, plural } from '../kit/format-number.ts'
import { formatMoment, parseTime } from '../kit/format-time.ts'
import { Card } from '../kit/icon.tsx'
import { LineChart, toLine } from '../kit/line-chart.tsx'
import type { App } from '../kit/page.ts'
import type { Shown } from '../kit/poll-page.tsx'
import { RangePicker } from '../kit/range-picker.tsx'
import { changeParams, formatRoute } from '../kit/route.ts'
import { Ago, Moment } from '../kit/time.tsx'
import { bucketsOf, chooseEvery, describeEvery, fixRange, readRange } from '../kit/time-range.ts'
import { StatusActions, StatusBadge } from './group-status.tsx'
import { EMPTY_TEXT, headline } from './headline.ts'

const POINTS_MAX = 60
const TEXTS = 20
export const RANGE = '-24h'
const AROUND_MS = 300_000

export interface GroupAnswer {
  readonly group: ExceptionGroup | undefined
  readonly texts: readonly ExceptionText[]
}

export async function askGroup(app: App, params: URLSearchParams, signal: AbortSignal): Promise<GroupAnswer> {
  const range = readRange(params, app.nowMs(), RANGE)
  const query = {
    ...range.query,
    fingerprint: params.get('group') ?? '',
    process: params.get('process') || undefined,
    meta: params.get('meta') ?? undefined,
  }
  const every = chooseEvery(range, POINTS_MAX)
  const [{ groups }, { exceptions }] = await Promise.all([
    app.api.get<ExceptionGroups>('api/exceptions/groups', { ...query, every }, signal),
    app.api.get<{ exceptions: ExceptionText[] }>('api/exceptions', { ...query, limit: TEXTS }, signal),
  ])
  const group = groups[0]
  if (group !== undefined) app.setTitle(headline(group.example))
  return { group, texts: exceptions }
}

type HeadingProps = Omit<Shown<unknown>, 'answer'> & { readonly group: ExceptionGroup | undefined }

export function GroupHeading({ app, params, nowMs, group, again }: HeadingProps) {
  const back = formatRoute('exceptions', changeParams(params, { group: undefined, process: undefined }))
  return (
    <>
      <header class="process-head">
        <div>
          <p class="crumb">
            <a href={back}>All groups</a>
          </p>
          <h1 tabIndex={-1} class="group-title" title={group && headline(group.example)}>
            <bdi>{group === undefined ? 'Exception' : headline(group.example)}</bdi>
          </h1>
        </div>
        {group !== undefined && <Status {...{ app, group, nowMs, again }} />}
      </header>
      <div class="toolbar">
        <RangePicker
          range={readRange(params, nowMs, RANGE)}
          nowMs={nowMs}
          choose={(changes) => app.go('exceptions', changeParams(params, changes))}
        />
      </div>
    </>
  )
}

function Status({ app, group, nowMs, again }: Omit<Shown<unknown>, 'params' | 'answer'> & { group: ExceptionGroup }) {
  return (
    <div class="button-row">
      <StatusBadge group={group} nowMs={nowMs} />
      {app.may('member') && <StatusActions app={app} group={group} class="button" again={again} />}
    </div>
  )
}

export function GroupContent({ app, params, nowMs, answer: { group, texts } }: Shown<GroupAnswer>) {
  if (group === undefined)
    return (
      <div class="empty">
        <p class="empty-title">No exception of this group in this range</p>
        <p class="muted">Choose a longer range.</p>
      </div>
    )
  const { process, fingerprint } = group
  const range = readRange(params, nowMs, RANGE)
  const { from, to } = range.query
  return (
    <div class="stack">
      <Card title="Newest text" about={<FromTo group={group} nowMs={nowMs} />}>
        <pre tabIndex={0} role="region" aria-label="Exception as it was sent">
          {texts[0]?.exception || EMPTY_TEXT}
        </pre>
        <DownloadMenu
          app={app}
          what="whole texts"
          path="api/exceptions/export"
          query={{ from, to, fingerprint, process }}
          formats={[
            ['csv', 'CSV'],
            ['jsonl', 'JSON lines'],
          ]}
        />
      </Card>
      <Occurrences {...{ app, params, group, range, nowMs }} />
      <Card title="When it occurred" class="card-table">
        <Times texts={texts} nowMs={nowMs} />
      </Card>
      <Pattern group={group} />
    </div>
  )
}

const FromTo = ({ group, nowMs }: { group: ExceptionGroup; nowMs: number }) => (
  <span class="muted">
    <a href={formatRoute('process', { process: group.process })}>
      <bdi>{group.process}</bdi>
    </a>{' '}
    · first <Ago at={group.first_at} nowMs={nowMs} /> · last <Ago at={group.last_at} nowMs={nowMs} />
  </span>
)

type OccurrencesProps = Pick<Shown<unknown>, 'app' | 'params' | 'nowMs'> & {
  readonly group: ExceptionGroup
  readonly range: ReturnType<typeof readRange>
}

function Occurrences({ app, params, group: { counts = [], count, runs }, range, nowMs }: OccurrencesProps) {
  const every = chooseEvery(range, POINTS_MAX)
  const atMs = bucketsOf(range, every)
  const line = toLine('Exceptions', counts, atMs, (row) => row.count)
  const lines = [{ ...line, values: line.values.map((value) => value ?? 0) }]
  const inRuns = runs > 0 ? ` in ${plural(runs, 'run')}` : ''
  return (
    <section class="card">
      <LineChart
        title="Occurrences"
        look="bars"
        formatValue={formatCount}
        ticksOf={countTicks}
        zoom={(fromMs, toMs) => app.go('exceptions', changeParams(params, fixRange(fromMs, toMs)))}
        data={{ atMs, lines, fromMs: range.fromMs, toMs: range.toMs }}
        summary={`${plural(count, 'exception')}${inRuns}, in ${describeEvery(every)}.`}
        nowMs={nowMs}
      />
    </section>
  )
}

const Times = ({ texts, nowMs }: { texts: readonly ExceptionText[]; nowMs: number }) => (
  <div class="table-scroll" tabIndex={0} role="region" aria-label="Newest occurrences">
    <table>
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">Meta · uid</th>
          <th scope="col">Runs</th>
        </tr>
      </thead>
      <tbody>
        {texts.map(({ at, process, meta, uid }) => {
          const ms = parseTime(at)
          const around = fixRange(ms - AROUND_MS, Math.min(nowMs, ms + AROUND_MS))
          return (
            <tr key={`${at} ${uid}`}>
              <td>
                <Moment at={at} nowMs={nowMs} />
              </td>
              <td>
                <bdi>{[meta, uid].filter(Boolean).join(' · ') || '–'}</bdi>
              </td>
              <td>
                <a
                  href={formatRoute('runs', { process, ...(uid && { uid }), ...around })}
                  aria-label={`${uid ? 'This run' : 'Runs at that time'}, ${formatMoment(ms, nowMs)}`}
                >
                  {uid ? 'This run' : 'Runs at that time'}
                </a>
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  </div>
)

const PLACEHOLDER = /(<(?:uuid|date|address|number|string)>)/

function Pattern({ group: { normalized, fingerprint } }: { group: ExceptionGroup }) {
  if (normalized === undefined) return null
  return (
    <Card title="Shared pattern" about={<code class="muted">{fingerprint}</code>}>
      <p class="muted">The fingerprint is a hash of this text; parts that vary are placeholders.</p>
      <pre class="normalized" tabIndex={0} role="region" aria-label="Normalised text">
        {(normalized || EMPTY_TEXT)
          .split(PLACEHOLDER)
          .map((part, i) => (PLACEHOLDER.test(part) ? <mark key={i}>{part}</mark> : part))}
      </pre>
    </Card>
  )
}
