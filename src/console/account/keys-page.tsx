// API keys: list, create, rotate and revoke, each after a confirmation.
import type { Key, Keys } from '../../wire/keys.ts'
import { plural } from '../kit/format-number.ts'
import { formatMoment, parseTime } from '../kit/format-time.ts'
import type { App } from '../kit/page.ts'
import { Empty, PageHeader } from '../kit/page-header.tsx'
import { openPollPage, type Question, type Shown } from '../kit/poll-page.tsx'
import { actionColumn, type Column, RowAction, Table } from '../kit/table.tsx'
import { Ago, Day } from '../kit/time.tsx'
import { askForKey, askForRevocation, askForRotation } from './key-dialogs.tsx'

const EVERY_MS = 10_000

type KeysProps = Omit<Shown<Keys>, 'params' | 'answer'>

const ask = ({ app, signal }: Question<Keys>): Promise<Keys> => app.api.get<Keys>('api/keys', {}, signal)

const Heading = (props: KeysProps) => (
  <PageHeader title="Keys" lead="Keys your code sends with. Only a hash is stored.">
    <CreateKey {...props} />
  </PageHeader>
)

const CreateKey = ({ app, again }: KeysProps) =>
  app.may('member') && (
    <button type="button" class="button button-main" onClick={() => askForKey(app, again)}>
      Create key
    </button>
  )

function Content(props: Shown<Keys>) {
  const { app, answer, nowMs } = props
  const others = !app.may('owner') && <p class="muted">Only owners see the keys of others.</p>
  if (answer.keys.length === 0)
    return (
      <Empty title={others ? 'No keys of yours' : 'No keys'}>
        <p class="muted">Your code needs one to send events.</p>
        {others}
        <CreateKey {...props} />
      </Empty>
    )
  return (
    <div class="card card-table">
      <Table caption="API keys" columns={columnsOf(props, nowMs)} rows={answer.keys} />
      {others}
    </div>
  )
}

const columnsOf = ({ app, again }: KeysProps, nowMs: number): Column<Key>[] => [
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
    cell: ({ last_used_at: at }) => (at === null ? <span class="muted">never</span> : <Ago at={at} nowMs={nowMs} />),
  },
  { label: 'Created', class: 'extra', cell: ({ created_at }) => <Day at={created_at} /> },
  { label: 'Created by', class: 'extra', cell: ({ creator }) => <Creator creator={creator} /> },
  { label: 'State', cell: (key) => <State of={key} nowMs={nowMs} /> },
  actionColumn(app.may('member'), (key) => isOver(key, nowMs) || <Actions {...{ app, again, of: key }} />),
]

const Creator = ({ creator }: { creator: Key['creator'] }) =>
  creator === null ? (
    '–'
  ) : (
    <>
      {creator.email} {creator.id === null && <span class="badge badge-warn">left</span>}
    </>
  )

const Actions = ({ app, again, of: key }: { app: App; again(): void; of: Key }) => (
  <>
    <RowAction label="Rotate" about={key.name} act={() => askForRotation(app, key, again)} />
    <RowAction label="Revoke" about={key.name} act={() => askForRevocation(app, key, again)} />
  </>
)

const isOver = ({ expires_at, revoked_at }: Key, nowMs: number): boolean =>
  revoked_at !== null || (expires_at !== null && parseTime(expires_at) <= nowMs)

function State({ of: key, nowMs }: { of: Key; nowMs: number }) {
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

export const openKeysPage = openPollPage<Keys>({
  className: 'keys',
  everyMs: () => EVERY_MS,
  ask,
  Heading,
  Content,
})
