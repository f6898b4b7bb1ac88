// All accounts of this Stint by what they use, for the operator. The address holds the filters and how many pages are
// shown. Figures are those of the node that answers.
import type { AccountSort, OperatedAccount, OperatedAccounts } from '../../wire/operator.ts'
import { getPages } from '../kit/api.ts'
import { type Filter, Filters } from '../kit/filters.tsx'
import { formatBytes, formatCount, plural } from '../kit/format-number.ts'
import { page, type Question } from '../kit/page.tsx'
import { Empty, PageHeader } from '../kit/page-header.tsx'
import { pagesIn, ShowMore } from '../kit/show-more.tsx'
import { actionColumn, type Column, RowAction, Table } from '../kit/table.tsx'
import { Ago, Day } from '../kit/time.tsx'
import { askForOperatedDeletion, askForResumption, askForSuspension } from './account-dialogs.tsx'

const ROWS = 100
const EVERY_MS = 30_000

const SORTS: Readonly<Record<AccountSort, string>> = {
  bytes: 'Bytes in 24 h',
  events: 'Events in 24 h',
  exceptions: 'Exceptions in 24 h',
  emails: 'E-mails in 24 h',
  seen: 'Last seen',
  created: 'Created',
}

const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search', placeholder: 'Name, address or id' },
  {
    name: 'sort',
    label: 'Order',
    choices: Object.entries(SORTS).map(([sort, label]) => ({ value: sort === 'bytes' ? undefined : sort, label })),
  },
  {
    name: 'state',
    label: 'State',
    choices: [
      { value: undefined, label: 'All' },
      { value: 'suspended', label: 'Suspended' },
    ],
  },
]

interface Answer extends Pick<OperatedAccounts, 'found' | 'total' | 'suspended'> {
  readonly rows: readonly OperatedAccount[]
  readonly isCut: boolean
}

const filtersOf = (params: URLSearchParams) => ({
  q: params.get('q') ?? undefined,
  sort: params.get('sort') ?? undefined,
  state: params.get('state') ?? undefined,
})

async function ask({ params, get }: Question<Answer>): Promise<Answer> {
  let counts = { found: 0, total: 0, suspended: 0 }
  const pages = await getPages(
    async (page) => {
      const { accounts, next, ...rest } = await get('api/operator/accounts', { ...filtersOf(params), ...page })
      counts = rest
      return { rows: accounts, next }
    },
    pagesIn(params, ROWS),
  )
  return { ...pages, ...counts }
}

const Heading = ({ answer }: { answer: Answer | undefined }) => (
  <>
    <PageHeader title="All accounts" lead={answer && leadOf(answer)} />
    <Filters filters={FILTERS} how="replace" ends={['pages']} />
  </>
)

const leadOf = ({ total, suspended }: Answer): string =>
  `${plural(total, 'account')}${suspended === 0 ? '' : `, ${formatCount(suspended)} suspended`}. Figures are of this ` +
  'node; e-mails are notifications and invitations.'

function Content({ answer: { rows, isCut, found } }: { answer: Answer }) {
  if (rows.length === 0)
    return (
      <Empty title="No accounts">
        <p class="muted">No matching accounts.</p>
      </Empty>
    )
  return (
    <>
      <div class="card card-table">
        <Table caption="All accounts" columns={COLUMNS} rows={rows} />
      </div>
      {isCut && (
        <p>
          <ShowMore />{' '}
          <span class="muted">
            {formatCount(rows.length)} of {formatCount(found)}
          </span>
        </p>
      )}
    </>
  )
}

const figure = (label: string, of: (account: OperatedAccount) => string, look: string): Column<OperatedAccount> => ({
  label,
  class: `number ${look}`,
  cell: of,
})

const COLUMNS: readonly Column<OperatedAccount>[] = [
  {
    label: 'Account',
    cell: ({ id, name, email, operator, suspended_at }) => (
      <>
        <strong>
          <bdi>{name}</bdi>
        </strong>{' '}
        {operator && <span class="badge">yours</span>}
        {suspended_at !== null && <span class="badge badge-bad">suspended</span>}
        <span class="sub">
          {email !== name && <>{email} · </>}
          <code>{id}</code>
        </span>
      </>
    ),
  },
  figure('Bytes', ({ bytes }) => formatBytes(bytes), ''),
  figure('Events', ({ events }) => formatCount(events), 'minor'),
  figure('Exceptions', ({ exceptions }) => formatCount(exceptions), 'extra'),
  figure('E-mails', ({ emails }) => formatCount(emails), 'extra'),
  { label: 'Last seen', class: 'minor', cell: ({ seen_at }) => (seen_at === null ? 'never' : <Ago at={seen_at} />) },
  { label: 'Created', class: 'extra', cell: ({ created_at }) => <Day at={created_at} /> },
  actionColumn((account, view) => {
    if (account.operator) return null
    const isSuspended = account.suspended_at !== null
    const change = () => (isSuspended ? askForResumption : askForSuspension)(view, account)
    return (
      <>
        <RowAction label={isSuspended ? 'Resume' : 'Suspend'} about={account.name} act={change} />
        <RowAction label="Delete" about={account.name} act={() => askForOperatedDeletion(view, account)} />
      </>
    )
  }, 'owner'),
]

export const AccountsPage = page<Answer>({
  name: 'accounts',
  everyMs: () => EVERY_MS,
  keyOf: (params) => Object.values(filtersOf(params)).join(' '),
  subjectOf: () => '',
  ask,
  Heading,
  Content,
})
