// How data is sent, to the first event and the first alert: the key, snippets to paste, what arrives, a channel and a
// failing run. Viewers see the snippets and what arrives.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Snippets } from '../../wire/snippets.ts'
import { Icon } from '../kit/icon.tsx'
import { page, type Question } from '../kit/page.tsx'
import { PageHeader } from '../kit/page-header.tsx'
import { formatRoute } from '../kit/route.ts'
import { Clock } from '../kit/time.tsx'
import { useView } from '../kit/view.tsx'
import { FailureStep, NotifyStep } from './alert-steps.tsx'
import { type Arrival, askArrivals } from './ask-arrivals.ts'
import { KeyStep } from './key-step.tsx'
import { SnippetTabs } from './snippet-tabs.tsx'
import { askWatching, type Watching } from './test-run.ts'

const EVERY_MS = 2_000
/** Events that came shortly before the page count, too. */
const BEFORE_MS = 60_000

interface WelcomeAnswer {
  readonly since: string
  readonly arrivals: readonly Arrival[]
  readonly hasArrived: boolean
  readonly watching: Watching | undefined
  readonly snippets: Snippets | undefined
}

async function ask({ app, held, early, get }: Question<WelcomeAnswer>): Promise<WelcomeAnswer> {
  const since = held?.since ?? new Date(app.nowMs() - BEFORE_MS).toISOString()
  const snippets = held?.snippets ?? (await get('clients/recipes').catch(() => undefined))
  // the key must be shown even if nothing answers: it is not shown again
  if (held === undefined) early({ since, arrivals: [], hasArrived: false, watching: undefined, snippets })
  const [arrivals, watching] = await Promise.all([
    askArrivals(get, since),
    app.may('member') ? askWatching(get) : undefined,
  ])
  return { since, arrivals, hasArrived: held?.hasArrived === true || arrivals.length > 0, watching, snippets }
}

function Heading() {
  const isMember = useView().app.may('member')
  const lead = isMember
    ? 'From the first event to the first alert in five steps.'
    : 'How events are sent, and how they arrive.'
  return <PageHeader title="Send data" lead={lead} />
}

function Content({ answer }: { answer: WelcomeAnswer }) {
  const { app, params, change } = useView()
  const { arrivals, hasArrived, watching, snippets } = answer
  const [secret, setSecret] = useState(app.firstKey?.secret)
  const mayChange = app.may('member')
  return (
    <ol class="steps">
      {mayChange ? (
        <Step title="Keep your key">
          <KeyStep secret={secret} made={setSecret} />
        </Step>
      ) : (
        <Step title="Get a key">
          <p class="muted">Ask a member or an owner of {app.account.name} for a key.</p>
        </Step>
      )}
      <Step title="Send something">
        {snippets && (
          <SnippetTabs
            snippets={snippets}
            secret={secret}
            chosen={params.get('in') ?? ''}
            choose={(language) => change({ in: language }, 'replace')}
          />
        )}
      </Step>
      <Step title="See it arrive">
        <div role="status">{hasArrived ? <Arrived /> : <Waiting />}</div>
        <ol class="arrivals">
          {arrivals.map(({ at, text }) => (
            <li key={`${at} ${text}`}>
              <Clock at={at} />
              <span>{text}</span>
            </li>
          ))}
        </ol>
      </Step>
      {mayChange && (
        <Step title="Be notified">
          <NotifyStep watching={watching} />
        </Step>
      )}
      {mayChange && (
        <Step title="See a failure arrive">
          <FailureStep {...{ watching, secret }} />
        </Step>
      )}
    </ol>
  )
}

const Step = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <li class="step card">
    <h2>{title}</h2>
    {children}
  </li>
)

const Waiting = () => (
  <div class="waiting">
    <i class="pulse" />
    <p>Waiting for an event…</p>
  </div>
)

const Arrived = () => (
  <div class="arrived">
    <Icon name="check" />
    <div>
      <p class="empty-title">An event has arrived.</p>
      <p class="muted">Everything you send appears on the timeline within seconds.</p>
    </div>
    <a class="button button-main" href={formatRoute('runs', { from: '-15m' })}>
      Open the timeline
    </a>
  </div>
)

export const WelcomePage = page<WelcomeAnswer>({
  name: 'welcome',
  class: 'page-narrow',
  everyMs: () => EVERY_MS,
  ask,
  Heading,
  Content,
})
