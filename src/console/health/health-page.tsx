// Delivery of accepted events to the stores, and the events that a store rejected. `?pages=` shows older ones.
import type { DeadLetter } from '../../wire/dead-letters.ts'
import type { Health } from '../../wire/operations.ts'
import { getPages } from '../kit/api.ts'
import { Card } from '../kit/icon.tsx'
import { page, type Question } from '../kit/page.tsx'
import { PageHeader } from '../kit/page-header.tsx'
import { pagesIn, ShowMore } from '../kit/show-more.tsx'
import { type Column, Table } from '../kit/table.tsx'
import { Moment } from '../kit/time.tsx'
import { useView } from '../kit/view.tsx'
import { DeliveryCards } from './delivery-cards.tsx'
import { askToBury, isOperator, RejectedEvents } from './rejected-events.tsx'

const EVERY_MS = 3_000
const PAGE = 50

interface HealthAnswer {
  readonly health: Health
  readonly letters: readonly DeadLetter[]
  readonly hasMore: boolean
}

async function ask({ app, params, get }: Question<HealthAnswer>): Promise<HealthAnswer> {
  const query = { all: isOperator(app) ? 'true' : undefined }
  const pages = pagesIn(params, PAGE)
  const [health, { rows: letters, isCut }] = await Promise.all([
    get('api/health'),
    getPages(async (page) => {
      const { dead: rows, next } = await get('api/dead', { ...query, ...page })
      return { rows, next }
    }, pages),
  ])
  return { health, letters, hasMore: isCut }
}

const Heading = () => (
  <PageHeader title="Health" lead="Accepted events are kept on this machine’s disk until their store has them." />
)

function Content({ answer: { health, letters, hasMore } }: { answer: HealthAnswer }) {
  const view = useView()
  const { app } = view
  const isHeld = Object.values(health.destinations).some(({ state }) => state === 'parked')
  return (
    <div class="stack">
      {health.warnings.map(({ detail }) => (
        <p key={detail} class="banner banner-warn">
          {detail}
        </p>
      ))}
      <DeliveryCards health={health} />
      {isHeld && isOperator(app) && (
        <div>
          <button type="button" class="button" onClick={() => askToBury(view)}>
            Discard refused events…
          </button>
        </div>
      )}
      {health.refused_pings.length > 0 && <RefusedPings pings={health.refused_pings} />}
      <RejectedEvents letters={letters} dead={health.dead}>
        {hasMore && <ShowMore label="Show older" />}
      </RejectedEvents>
    </div>
  )
}

export const HealthPage = page<HealthAnswer>({
  name: 'health',
  everyMs: () => EVERY_MS,
  ask,
  Heading,
  Content,
})

type RefusedPing = Health['refused_pings'][number]

/** A crontab that discards what curl prints hides them. */
const RefusedPings = ({ pings }: { readonly pings: readonly RefusedPing[] }) => (
  <Card title="Refused pings" class="card-table">
    <p class="muted">Pings of the last 30 days of which nothing was stored, because of a parameter.</p>
    <Table caption="Refused pings" columns={COLUMNS} rows={pings} keyOf={({ process, name }) => process + name} />
  </Card>
)

const COLUMNS: readonly Column<RefusedPing>[] = [
  { label: 'Process', cell: ({ process }) => <strong class="wrap">{process}</strong> },
  { label: 'Parameter', cell: ({ name }) => <code class="wrap">{name}</code> },
  { label: 'Last', cell: ({ at }) => <Moment at={at} /> },
]
