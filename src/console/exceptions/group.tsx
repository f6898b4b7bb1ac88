// One group of exceptions: its first line is the heading, then the whole text, when it occurred, in which runs, and last
// what it is recognized by.
import type { ExceptionGroup, ExceptionText } from '../../wire/exceptions.ts'
import { countTicks } from '../kit/axis-values.ts'
import { DownloadMenu } from '../kit/download-menu.tsx'
import { formatCount, plural } from '../kit/format-number.ts'
import { formatMoment, parseTime } from '../kit/format-time.ts'
import { Card } from '../kit/icon.tsx'
import { LineChart, toLine } from '../kit/line-chart.tsx'
import type { Question } from '../kit/page.tsx'
import { RangePicker } from '../kit/range-picker.tsx'
import { changeParams, formatRoute } from '../kit/route.ts'
import { Ago, Moment } from '../kit/time.tsx'
import { bucketsOf, chooseEvery, describeEvery, fixRange, readRange } from '../kit/time-range.ts'
import { useView } from '../kit/view.tsx'
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

export async function askGroup({ app, params, get }: Question<unknown>): Promise<GroupAnswer> {
  const range = readRange(params, app.nowMs(), RANGE)
  const query = {
    ...range.query,
    fingerprint: params.get('group') ?? '',
    process: params.get('process') || undefined,
    meta: params.get('meta') ?? undefined,
  }
  const every = chooseEvery(range, POINTS_MAX)
  const [{ groups }, { exceptions }] = await Promise.all([
    get('api/exceptions/groups', { ...query, every }),
    get('api/exceptions', { ...query, limit: TEXTS }),
  ])
  const group = groups[0]
  if (group !== undefined) app.setTitle(headline(group.example))
  return { group, texts: exceptions }
}

export function GroupHeading({ group }: { group: ExceptionGroup | undefined }) {
  const { params, nowMs, change } = useView()
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
        {group !== undefined && <Status group={group} />}
      </header>
      <div class="toolbar">
        <RangePicker range={readRange(params, nowMs, RANGE)} nowMs={nowMs} choose={change} />
      </div>
    </>
  )
}

function Status({ group }: { group: ExceptionGroup }) {
  const { app } = useView()
  return (
    <div class="button-row">
      <StatusBadge group={group} />
      {app.may('member') && <StatusActions group={group} class="button" />}
    </div>
  )
}

export function GroupContent({ answer: { group, texts } }: { answer: GroupAnswer }) {
  const { app, params, nowMs } = useView()
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
      <Card title="Newest text" about={<FromTo group={group} />}>
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
      <Occurrences {...{ group, range }} />
      <Card title="When it occurred" class="card-table">
        <Times texts={texts} />
      </Card>
      <Pattern group={group} />
    </div>
  )
}

const FromTo = ({ group }: { group: ExceptionGroup }) => (
  <span class="muted">
    <a href={formatRoute('process', { process: group.process })}>
      <bdi>{group.process}</bdi>
    </a>{' '}
    · first <Ago at={group.first_at} /> · last <Ago at={group.last_at} />
  </span>
)

interface OccurrencesProps {
  readonly group: ExceptionGroup
  readonly range: ReturnType<typeof readRange>
}

function Occurrences({ group: { counts = [], count, runs }, range }: OccurrencesProps) {
  const { change, nowMs } = useView()
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
        zoom={(fromMs, toMs) => change(fixRange(fromMs, toMs))}
        data={{ atMs, lines, fromMs: range.fromMs, toMs: range.toMs }}
        summary={`${plural(count, 'exception')}${inRuns}, in ${describeEvery(every)}.`}
        nowMs={nowMs}
      />
    </section>
  )
}

function Times({ texts }: { texts: readonly ExceptionText[] }) {
  const { nowMs } = useView()
  return (
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
                  <Moment at={at} />
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
}

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
