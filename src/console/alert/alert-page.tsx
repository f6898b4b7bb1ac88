// The page of an alert, where every notification leads: what happened and why, its run beside the last good one, what
// ran around it, who knows, what to do, and the watch. One question; each part says so when its store is away.
import type { AlertDetail } from '../../wire/alert-detail.ts'
import type { Compared } from '../compare/compare-runs.ts'
import { Comparison } from '../compare/comparison.tsx'
import { NotAvailable } from '../compare/not-available.tsx'
import { EMPTY_TEXT } from '../exceptions/line-of.ts'
import { ApiError } from '../kit/api.ts'
import { parseTime } from '../kit/format-time.ts'
import { Card } from '../kit/icon.tsx'
import { page, type Question } from '../kit/page.tsx'
import { Preformatted } from '../kit/preformatted.tsx'
import { monthsAround } from '../kit/time-range.ts'
import { Link, useView } from '../kit/view.tsx'
import { ProcessNote } from '../process/note.tsx'
import { AlertActions } from './alert-actions.tsx'
import { noveltyOf, sentenceOf, titleOf } from './alert-words.ts'
import { Around } from './around.tsx'
import { askFigures, type Figures, MetricFigure } from './metric-figure.tsx'
import { MissedStart } from './missed-start.tsx'
import { ThisWatch } from './this-watch.tsx'
import { WhoKnows } from './who-knows.tsx'

const EVERY_MS = 5_000

interface Answer {
  /** Undefined: there is no such alert. */
  readonly detail: AlertDetail | undefined
  /** Only with an alert about a metric, after a second question. */
  readonly figures: Figures | undefined
}

const idIn = (params: URLSearchParams): string => params.get('id') ?? ''

async function ask({ app, params, get, held, early }: Question<Answer>): Promise<Answer> {
  const answer = await askDetail(get, idIn(params))
  if (answer === undefined) return { detail: answer, figures: undefined }
  // while its store does not answer, a text that somebody reads stays
  const known = answer.unavailable.includes('exceptions') && held?.detail?.exceptions
  const detail = known ? { ...answer, exceptions: known } : answer
  app.setTitle(titleOf(detail.alert))
  early({ detail, figures: held?.figures })
  return { detail, figures: await askFigures(get, detail, app.nowMs()) }
}

/** Another account's alert is as unknown as one that never was. */
async function askDetail(get: Question<Answer>['get'], id: string): Promise<AlertDetail | undefined> {
  if (id === '') return undefined
  try {
    return await get(`api/alerts/${encodeURIComponent(id)}`)
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}

function Heading({ answer }: { answer: Answer | undefined }) {
  const { params, nowMs } = useView()
  const alert = answer?.detail?.alert
  const process = alert?.process ?? params.get('process') ?? undefined
  return (
    <header>
      <p class="crumb">
        {process === undefined ? (
          <Link to="watches">Alerts & watches</Link>
        ) : (
          <Link to="process" of={{ process }} text={process} />
        )}
      </p>
      <h1 tabIndex={-1} class="alert-title">
        <bdi>
          {alert !== undefined ? sentenceOf(alert, nowMs).head : answer === undefined ? 'Alert' : 'Alert not found'}
        </bdi>
      </h1>
    </header>
  )
}

function Content({ answer: { detail, figures } }: { answer: Answer }) {
  const { nowMs } = useView()
  if (detail === undefined) return <NotFound />
  const { alert } = detail
  const { more } = sentenceOf(alert, nowMs)
  return (
    <div class="process-content">
      <div class="alert-top">
        {more !== '' && <p class="muted">{more}</p>}
        <Reason detail={detail} />
        <AlertActions alert={alert} />
      </div>
      <div class="process-grid">
        <div class="stack">
          <Evidence {...{ detail, figures }} />
          <Around detail={detail} />
        </div>
        <div class="stack">
          <WhoKnows detail={detail} />
          <ProcessNote key={alert.process} process={alert.process} written={detail} />
          <ThisWatch detail={detail} />
        </div>
      </div>
    </div>
  )
}

/** The first line of the exception; with the store away without how often it came. */
function Reason({ detail: { exceptions, alert } }: { detail: AlertDetail }) {
  const { nowMs } = useView()
  const [exception] = exceptions
  if (exception === undefined) return null
  const { at, headline, fingerprint: group, exception: text } = exception
  const novelty = noveltyOf(exception)
  return (
    <div class="process-why">
      <code>
        <bdi>{headline || EMPTY_TEXT}</bdi>
      </code>
      <p class="alert-novelty">
        {novelty !== undefined && <span class={`badge ${novelty === 'new' ? 'badge-bad' : ''}`}>{novelty}</span>}{' '}
        <Link to="exceptions" of={{ process: alert.process, ...monthsAround(parseTime(at), nowMs), group }}>
          All like this
        </Link>
      </p>
      {text !== headline && text !== '' && (
        <details>
          <summary>Whole text</summary>
          <Preformatted class="diff" label="Exception">
            {text}
          </Preformatted>
        </details>
      )}
    </div>
  )
}

interface EvidenceProps {
  readonly detail: AlertDetail
  readonly figures: Figures | undefined
}

function Evidence({ detail, figures }: EvidenceProps) {
  const { alert, run, late, unavailable } = detail
  if (alert.condition === 'late')
    return (
      <Card title="The missing start">
        {unavailable.includes('late') || late === null ? (
          <NotAvailable what="The last starts" />
        ) : (
          <MissedStart {...{ alert, late }} />
        )}
      </Card>
    )
  if (alert.condition === 'metric') return <MetricFigure {...{ detail, figures }} />
  return (
    <Card title="This run beside the last good one">
      {run !== null ? (
        <Comparison compared={{ ...detail, run } satisfies Compared} />
      ) : unavailable.includes('run') ? (
        <NotAvailable what="The run" />
      ) : (
        <p class="muted">No run of it is known.</p>
      )}
    </Card>
  )
}

function NotFound() {
  const process = useView().params.get('process') ?? undefined
  return (
    <div class="empty">
      <p class="muted">
        This account has no alert with this id, or the alert ended more than 90 days ago and was deleted.
      </p>
      <div class="button-row">
        {process !== undefined && (
          <Link class="button button-main" to="process" of={{ process }}>
            Open the process
          </Link>
        )}
        <Link class="button" to="watches">
          All alerts
        </Link>
      </div>
    </div>
  )
}

export const AlertPage = page<Answer>({
  name: 'alert',
  class: 'process alert',
  everyMs: () => EVERY_MS,
  keyOf: idIn,
  ask,
  Heading,
  Content,
})
