// Pings of the account that a parameter made invalid, which a crontab that discards what curl prints hides.
import type { Health } from '../../wire/operations.ts'
import { Card } from '../kit/icon.tsx'
import { type Column, Table } from '../kit/table.tsx'
import { Moment } from '../kit/time.tsx'

type RefusedPing = Health['refused_pings'][number]

export const RefusedPings = ({ pings }: { readonly pings: readonly RefusedPing[] }) => (
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
