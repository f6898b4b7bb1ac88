// Events that a store rejected for good (dead letters), with the reason; each is replayed or deleted.
import type { ComponentChildren } from 'preact'
import type { DeadLetter } from '../../wire/dead-letters.ts'
import type { Health } from '../../wire/operations.ts'
import { announced, confirm } from '../kit/confirm.tsx'
import { Field } from '../kit/form.tsx'
import { plural } from '../kit/format-number.ts'
import { Card } from '../kit/icon.tsx'
import type { App } from '../kit/page.ts'
import { Empty } from '../kit/page-header.tsx'
import { actionColumn, type Column, RowAction, Table } from '../kit/table.tsx'
import { Moment } from '../kit/time.tsx'

/** Operators see and change the rejected events of all accounts. */
export const isOperator = (app: App): boolean => app.account.operator && app.may('owner')

interface Props {
  readonly app: App
  readonly letters: readonly DeadLetter[]
  readonly dead: Health['dead']
  readonly nowMs: number
  again(): void
  readonly children: ComponentChildren
}

export function RejectedEvents({ app, letters, dead, nowMs, again, children }: Props) {
  if (letters.length === 0)
    return (
      <div class="card">
        <Empty title="No rejected events">
          <p class="muted">Every event is in its store or on its way there.</p>
        </Empty>
      </div>
    )
  const count = isOperator(app) ? `${plural(dead.total ?? 0, 'event')} of all accounts` : plural(dead.own, 'event')
  return (
    <Card title="Rejected events" class="card-table" about={<span class="muted">{count}</span>}>
      <p class="muted">Events that a store rejected permanently (dead letters), with the reason.</p>
      <Table caption="Rejected events" columns={columnsOf(app, nowMs, again)} rows={letters} />
      {children}
    </Card>
  )
}

const columnsOf = (app: App, nowMs: number, again: () => void): Column<DeadLetter>[] => [
  { label: 'Event', cell: (letter) => <Name of={letter} /> },
  {
    label: 'Reason',
    cell: ({ reason, event }) => (
      <>
        <span class="wrap">{reason}</span>
        <details>
          <summary>Event</summary>
          <pre tabIndex={0} role="region" aria-label="Event">
            {JSON.stringify(event ?? {}, null, 2)}
          </pre>
        </details>
      </>
    ),
  },
  { label: 'Rejected', class: 'extra', cell: ({ buried_at }) => <Moment at={buried_at} nowMs={nowMs} /> },
  actionColumn(app.may('member'), (letter) => {
    const about = `${letter.kind} of ${letter.process}`
    return (
      <>
        <RowAction label="Replay" about={about} act={() => askForReplay(app, letter, again)} />
        <RowAction label="Delete" about={about} act={() => askForDrop(app, letter, again)} />
      </>
    )
  }),
]

function Name({ of: { kind, process, meta, account } }: { of: DeadLetter }) {
  const about = [kind, meta, account].filter((part) => part != null && part !== '').join(' · ')
  return (
    <>
      <strong class="clip" title={process ?? ''}>
        {process ?? '–'}
      </strong>
      <span class="sub clip" title={about}>
        <bdi>{about}</bdi>
      </span>
    </>
  )
}

const pathOf = (app: App, { id }: DeadLetter, action = ''): string =>
  `api/dead/${encodeURIComponent(id)}${action}${isOperator(app) ? '?all=true' : ''}`

const askForReplay = (app: App, letter: DeadLetter, again: () => void): void =>
  confirm({
    title: 'Replay this event?',
    text: 'It is sent to its store again with its original time. If the store rejects it again, it returns to this list.',
    submitLabel: 'Replay event',
    async submit() {
      await app.api.send('POST', pathOf(app, letter, '/replay'))
      return announced(app, again, 'Event queued for delivery.')
    },
  })

const askForDrop = (app: App, letter: DeadLetter, again: () => void): void =>
  confirm({
    title: 'Delete this event?',
    text: `A ${letter.kind} of ${letter.process} is deleted permanently. This cannot be undone.`,
    submitLabel: 'Delete event',
    isDanger: true,
    async submit() {
      await app.api.send('DELETE', pathOf(app, letter))
      return announced(app, again, 'Event deleted.')
    },
  })

export const askToBury = (app: App, again: () => void): void =>
  confirm({
    title: 'Give up the events that the store refuses?',
    text:
      'Delivery is paused by a foreign field type or a broken table. Events accepted until now that the store ' +
      'refuses become rejected events with this reason, of all accounts. You can replay them after the repair.',
    children: <Field name="reason" label="Reason" required maxLength={500} />,
    submitLabel: 'Give up events',
    isDanger: true,
    async submit(body) {
      await app.api.send('POST', 'api/dead/held', body)
      return announced(app, again, 'Held events are being moved to the rejected events.')
    },
  })
