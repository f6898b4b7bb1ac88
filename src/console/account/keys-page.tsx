// API keys: list, create, rotate and revoke, each after a confirmation.
import type { Key, Keys } from '../../wire/keys.ts'
import { plural } from '../kit/format-number.ts'
import { formatMoment, parseTime } from '../kit/format-time.ts'
import { page } from '../kit/page.tsx'
import { Empty, PageHeader } from '../kit/page-header.tsx'
import { actionColumn, type Column, RowAction, Table } from '../kit/table.tsx'
import { Ago, Day } from '../kit/time.tsx'
import { useView } from '../kit/view.tsx'
import { askForKey, askForRevocation, askForRotation } from './key-dialogs.tsx'

const EVERY_MS = 10_000

export const KeysPage = page<Keys>({
  name: 'keys',
  everyMs: () => EVERY_MS,
  ask: ({ get }) => get('api/keys'),
  Heading: () => (
    <PageHeader title="Keys" lead="API keys for your code. Stint stores only a hash.">
      <CreateKey />
    </PageHeader>
  ),
  Content,
})

function CreateKey() {
  const view = useView()
  return (
    view.app.may('member') && (
      <button type="button" class="button button-main" onClick={() => askForKey(view)}>
        Create key
      </button>
    )
  )
}

function Content({ answer: { keys } }: { answer: Keys }) {
  const { app } = useView()
  const others = !app.may('owner') && <p class="muted">Only owners see the keys of others.</p>
  if (keys.length === 0)
    return (
      <Empty title={others ? 'No keys of yours' : 'No keys'}>
        <p class="muted">Your code needs one to send events.</p>
        {others}
        <CreateKey />
      </Empty>
    )
  return (
    <div class="card card-table">
      <Table caption="API keys" columns={COLUMNS} rows={keys} />
      {others}
    </div>
  )
}

const COLUMNS: readonly Column<Key>[] = [
  {
    label: 'Name',
    cell: ({ name, prefix }) => (
      <>
        <strong>{name}</strong>
        <code class="sub">{prefix}…</code>
      </>
    ),
  },
  {
    label: 'Permissions',
    class: 'minor',
    cell: ({ scopes, process }) => (
      <>
        {scopes.map((scope) => (
          <span key={scope} class="badge">
            {scope}
          </span>
        ))}
        {process !== undefined && <span class="sub">{process}</span>}
      </>
    ),
  },
  {
    label: 'Last used',
    class: 'minor',
    cell: ({ last_used_at: at }) => (at === null ? <span class="muted">never</span> : <Ago at={at} />),
  },
  { label: 'Created', class: 'extra', cell: ({ created_at }) => <Day at={created_at} /> },
  { label: 'Created by', class: 'extra', cell: ({ creator }) => <Creator creator={creator} /> },
  { label: 'State', cell: (key) => <State of={key} /> },
  actionColumn(
    (key, view) =>
      !isOver(key, view.nowMs) && (
        <>
          <RowAction label="Rotate" about={key.name} act={() => askForRotation(view, key)} />
          <RowAction label="Revoke" about={key.name} act={() => askForRevocation(view, key)} />
        </>
      ),
    'member',
  ),
]

const Creator = ({ creator }: { creator: Key['creator'] }) =>
  creator === null ? (
    '–'
  ) : (
    <>
      {creator.email} {creator.id === null && <span class="badge badge-warn">left</span>}
    </>
  )

const isOver = ({ expires_at, revoked_at }: Key, nowMs: number): boolean =>
  revoked_at !== null || (expires_at !== null && parseTime(expires_at) <= nowMs)

function State({ of: key }: { of: Key }) {
  const { nowMs } = useView()
  const { expires_at, revoked_at } = key
  if (isOver(key, nowMs)) return <span class="badge badge-off">{revoked_at === null ? 'expired' : 'revoked'}</span>
  if (expires_at === null) return <span class="badge badge-good">active</span>
  const leftMs = parseTime(expires_at) - nowMs
  const left =
    leftMs > 3_600_000 ? plural(Math.round(leftMs / 3_600_000), 'hour') : plural(Math.ceil(leftMs / 60_000), 'minute')
  return (
    <span class="badge badge-warn" title={formatMoment(parseTime(expires_at), nowMs)}>
      expires in {left}
    </span>
  )
}
