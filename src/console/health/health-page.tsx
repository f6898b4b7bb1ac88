// Delivery of accepted events to the stores, and the events that a store rejected. `?pages=` shows older ones.
import type { DeadLetter } from '../../wire/dead-letters.ts'
import type { Health } from '../../wire/operations.ts'
import { getPages } from '../kit/api.ts'
import type { App } from '../kit/page.ts'
import { PageHeader } from '../kit/page-header.tsx'
import { openPollPage, type Question, type Shown } from '../kit/poll-page.tsx'
import { pagesOf, withMorePages } from '../kit/route.ts'
import { DeliveryCards } from './delivery-cards.tsx'
import { askToBury, isOperator, RejectedEvents } from './rejected-events.tsx'

const EVERY_MS = 3_000
const PAGE = 50

interface HealthAnswer {
  readonly health: Health
  readonly letters: readonly DeadLetter[]
  readonly hasMore: boolean
}

async function ask({ app, params, signal }: Question<HealthAnswer>): Promise<HealthAnswer> {
  const query = { all: isOperator(app) ? 'true' : undefined }
  const pages = { pageRows: PAGE, maxRows: PAGE * pagesOf(params) }
  const [health, { rows: letters, isCut }] = await Promise.all([
    app.api.get<Health>('api/health', {}, signal),
    getPages<DeadLetter>(app.api, 'api/dead', 'dead', query, signal, pages),
  ])
  return { health, letters, hasMore: isCut }
}

const Heading = () => (
  <PageHeader title="Health" lead="Accepted events are kept on this machine’s disk until their store has them." />
)

function Content({ app, params, answer: { health, letters, hasMore }, nowMs, again }: Shown<HealthAnswer>) {
  const isHeld = Object.values(health.destinations).some(({ state }) => state === 'parked')
  return (
    <div class="stack">
      {health.warnings.map(({ detail }) => (
        <p key={detail} class="banner banner-warn">
          {detail}
        </p>
      ))}
      <DeliveryCards health={health} nowMs={nowMs} />
      {isHeld && isOperator(app) && <GiveUp app={app} again={again} />}
      <RejectedEvents {...{ app, letters, nowMs, again }} dead={health.dead}>
        {hasMore && (
          <button type="button" class="button" onClick={() => app.go('health', withMorePages(params), 'replace')}>
            Show older
          </button>
        )}
      </RejectedEvents>
    </div>
  )
}

const GiveUp = ({ app, again }: { app: App; again(): void }) => (
  <div>
    <button type="button" class="button" onClick={() => askToBury(app, again)}>
      Give up held events…
    </button>
  </div>
)

export const openHealthPage = openPollPage<HealthAnswer>({
  className: 'health',
  everyMs: () => EVERY_MS,
  ask,
  Heading,
  Content,
})
