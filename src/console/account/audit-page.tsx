// The audit log of the account, for its owners. The address holds the filters and how many pages are shown.

import type { AuditEntry } from '../../wire/audit.ts'
import { AUDIT_ACTIONS } from '../../wire/audit-actions.ts'
import { getPages } from '../kit/api.ts'
import { type Filter, Filters } from '../kit/filters.tsx'
import { page, type Question } from '../kit/page.tsx'
import { Empty, PageHeader } from '../kit/page-header.tsx'
import { pagesIn, ShowMore } from '../kit/show-more.tsx'
import { type Column, Table } from '../kit/table.tsx'
import { Ago } from '../kit/time.tsx'

const ROWS = 100
const RANGE = '-30d'
const FILTERS: readonly Filter[] = [
  {
    name: 'action',
    label: 'Action',
    choices: [
      { value: undefined, label: 'Everything' },
      ...AUDIT_ACTIONS.map((action) => ({ value: action, label: wordAction(action) })),
    ],
  },
  { name: 'actor', label: 'Person', placeholder: 'ada@example.com', isEntered: true },
  {
    name: 'from',
    label: 'Time',
    chosen: RANGE,
    choices: [
      { value: '-1d', label: 'Last day' },
      { value: '-7d', label: 'Last 7 days' },
      { value: RANGE, label: 'Last 30 days' },
      { value: '-365d', label: 'Last 365 days' },
    ],
  },
]

/** `key_created` → `Key created` */
function wordAction(action: string): string {
  const words = action.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

interface AuditAnswer {
  readonly rows: readonly AuditEntry[]
  /** Older ones are not shown. */
  readonly isCut: boolean
}

const filtersOf = (params: URLSearchParams) => ({
  action: params.get('action') ?? undefined,
  actor: params.get('actor') ?? undefined,
  from: params.get('from') ?? RANGE,
})

const ask = ({ params, get }: Question<AuditAnswer>): Promise<AuditAnswer> =>
  getPages(
    async (page) => {
      const { entries, next } = await get('api/audit', { ...filtersOf(params), ...page })
      return { rows: entries, next }
    },
    pagesIn(params, ROWS),
  )

const Heading = () => (
  <>
    <PageHeader title="Audit log" lead="Who did what in this account, newest first. Kept for 365 days." />
    <Filters filters={FILTERS} how="replace" ends={['pages']} />
  </>
)

function Content({ answer: { rows: entries, isCut } }: { answer: AuditAnswer }) {
  if (entries.length === 0)
    return (
      <Empty title="No entries">
        <p class="muted">No matching entries.</p>
      </Empty>
    )
  const rows = entries.map((entry, i) => ({ ...entry, place: entries.length - i }))
  return (
    <>
      <div class="card card-table">
        <Table caption="Audit log" columns={COLUMNS} rows={rows} keyOf={({ place }) => String(place)} />
      </div>
      {isCut && <ShowMore />}
    </>
  )
}

/** Entries have no id: among those of the same time their place from the end tells which it is. */
type Row = AuditEntry & { readonly place: number }

const COLUMNS: readonly Column<Row>[] = [
  { label: 'When', class: 'tight', cell: ({ at }) => <Ago at={at} /> },
  { label: 'Who', class: 'minor audit-who', cell: (entry) => <Who of={entry} /> },
  {
    label: 'Action',
    cell: (entry) => (
      <>
        {wordAction(entry.action)}
        <span class="sub on-phone">{whatOf(entry)}</span>
        <span class="sub on-phone">
          by <Who of={entry} />
        </span>
      </>
    ),
  },
  { label: 'What', class: 'minor', cell: whatOf },
  { label: 'Address', class: 'extra audit-address', cell: ({ address }) => <code>{address}</code> },
]

const Who = ({ of: { actor, key } }: { of: AuditEntry }) => actor ?? (key === null ? 'unknown' : <code>{key}</code>)

function whatOf({ target, detail }: AuditEntry): string {
  return [target, detail].filter((text) => text !== null).join(' · ')
}

export const AuditPage = page<AuditAnswer>({
  name: 'audit',
  everyMs: () => 0,
  keyOf: (params) => Object.values(filtersOf(params)).join(' '),
  subjectOf: () => '',
  ask,
  Heading,
  Content,
})
