// Delivery of accepted events to the stores, and the events that a store rejected. `?pages=` shows older ones.
import type { DeadLetter } from '../../wire/dead-letters.ts'
import type { Health } from '../../wire/operations.ts'
import type { App } from '../kit/page.ts'
import { PageHeader } from '../kit/page-header.tsx'
import { openPollPage, type Question, type Shown } from '../kit/poll-page.tsx'
import { changeParams } from '../kit/route.ts'
import { DeliveryCards } from './delivery-cards.tsx'
import { askToBury, isOperator, RejectedEvents } from './rejected-events.tsx'

const EVERY_MS = 3_000
const PAGE = 50

interface HealthAnswer {
  readonly health: Health
  readonly letters: readonly DeadLetter[]
  readonly hasMore: boolean
}

interface DeadPage {
  readonly dead: readonly DeadLetter[]
  readonly next: string | null
}

const pagesOf = (params: URLSearchParams): number => Math.max(1, Math.floor(Number(params.get('pages') ?? 1)) || 1)

async function ask({ app, params, signal }: Question<HealthAnswer>): Promise<HealthAnswer> {
  const query = { limit: PAGE, ...(isOperator(app) && { all: 'true' }) }
  const askLetters = (cursor?: string) => app.api.get<DeadPage>('api/dead', { ...query, cursor }, signal)
  const [health, first] = await Promise.all([app.api.get<Health>('api/health', {}, signal), askLetters()])
  let { dead: letters, next } = first
  for (let page = 1; next !== null && page < pagesOf(params); page++) {
    const more: DeadPage = await askLetters(next)
    letters = [...letters, ...more.dead]
    next = more.next
  }
  return { health, letters, hasMore: next !== null }
}

const Heading = () => (
  <PageHeader title="Health" lead="Accepted events are kept on this machine’s disk until their store has them." />
)

function Content({ app, params, answer: { health, letters, hasMore }, nowMs, again }: Shown<HealthAnswer>) {
  const isHeld = Object.values(health.destinations).some(({ state }) => state === 'parked')
  const more = changeParams(params, { pages: String(pagesOf(params) + 1) })
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
          <button type="button" class="button" onClick={() => app.go('health', more, 'replace')}>
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
  keyOf: () => '',
  ask,
  Heading,
  Content,
})
