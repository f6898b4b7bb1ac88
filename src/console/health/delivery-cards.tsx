// How the events reach each store: what waits on disk, and since when delivery is as it is.
import type { Health } from '../../wire/operations.ts'
import { formatBytes, formatCount } from '../kit/format-number.ts'
import { Card } from '../kit/icon.tsx'
import { Ago } from '../kit/time.tsx'

const NAMES = { points: 'Marks and metrics', exceptions: 'Exceptions' } as const
const STATES = {
  idle: ['badge-good', 'up to date'],
  shipping: ['badge-good', 'delivering'],
  retrying: ['badge-warn', 'retrying'],
  parked: ['badge-bad', 'paused'],
} as const

interface Props {
  readonly health: Health
}

export const DeliveryCards = ({ health }: Props) => (
  <div class="columns">
    {(['points', 'exceptions'] as const).map((name) => (
      <DeliveryCard key={name} {...{ health, name }} />
    ))}
  </div>
)

function DeliveryCard({ health, name }: Props & { name: keyof typeof NAMES }) {
  const { records, bytes, oldest_s } = health.spools[name]
  const { store, state, reason, since } = health.destinations[name]
  const [tone, said] = STATES[state]
  const figures = [
    ['Waiting', formatCount(records)],
    ['On disk', formatBytes(bytes)],
    ['Oldest', records === 0 ? '–' : `${formatCount(Math.round(oldest_s))} s`],
  ] as const
  return (
    <Card title={NAMES[name]} end={<span class={`badge ${tone}`}>{said}</span>}>
      <dl class="facts facts-row">
        {figures.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd class="figure">{value}</dd>
          </div>
        ))}
        <div>
          <dt>Store</dt>
          <dd>{store}</dd>
        </div>
        <div>
          <dt>Since</dt>
          <dd>
            <Ago at={since} />
          </dd>
        </div>
      </dl>
      {reason !== undefined && <p class="banner banner-warn wrap">{reason}</p>}
    </Card>
  )
}
