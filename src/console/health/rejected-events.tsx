// Rejected events: what a store rejected permanently, with the reason; each is replayed or deleted.
import type { ComponentChildren } from 'preact'
import type { DeadLetter } from '../../wire/dead-letters.ts'
import type { Health } from '../../wire/operations.ts'
import type { App } from '../kit/app.ts'
import { confirm, confirmDelete } from '../kit/confirm.tsx'
import { Field } from '../kit/form.tsx'
import { plural } from '../kit/format-number.ts'
import { Card } from '../kit/icon.tsx'
import { Empty } from '../kit/page-header.tsx'
import { Preformatted } from '../kit/preformatted.tsx'
import { actionColumn, type Column, RowAction, Table } from '../kit/table.tsx'
import { Moment } from '../kit/time.tsx'
import { useView, type View } from '../kit/view.tsx'

/** Operators see and change the rejected events of all accounts. */
export const isOperator = (app: App): boolean => app.account.operator && app.may('owner')

interface Props {
  readonly letters: readonly DeadLetter[]
  readonly dead: Health['dead']
  readonly children: ComponentChildren
}

export function RejectedEvents({ letters, dead, children }: Props) {
  const { app } = useView()
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
      <p class="muted">What a store rejected permanently, with the reason.</p>
      <Table caption="Rejected events" columns={COLUMNS} rows={letters} />
      {children}
    </Card>
  )
}

const COLUMNS: readonly Column<DeadLetter>[] = [
  { label: 'Event', cell: (letter) => <Name of={letter} /> },
  {
    label: 'Reason',
    cell: ({ reason, event }) => (
      <>
        <span class="wrap">{reason}</span>
        <details>
          <summary>Event</summary>
          <Preformatted label="Event">{JSON.stringify(event ?? {}, null, 2)}</Preformatted>
        </details>
      </>
    ),
  },
  { label: 'Rejected', class: 'extra', cell: ({ buried_at }) => <Moment at={buried_at} /> },
  actionColumn((letter, view) => {
    const about = `${letter.kind} of ${letter.process}`
    return (
      <>
        <RowAction label="Replay" about={about} act={() => askForReplay(view, letter)} />
        <RowAction label="Delete" about={about} act={() => askForDrop(view, letter)} />
      </>
    )
  }, 'member'),
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

const ofAll = (app: App): '?all=true' | '' => (isOperator(app) ? '?all=true' : '')

const askForReplay = (view: View, { id }: DeadLetter): void =>
  confirm(view, {
    title: 'Replay this event?',
    text: 'It is sent to its store again with its original time. If rejected again, it returns to this list.',
    submitLabel: 'Replay event',
    async submit() {
      const { app } = view
      await app.api.send('POST', `api/dead/${encodeURIComponent(id)}/replay${ofAll(app)}`)
      return 'Event queued for delivery.'
    },
  })

const askForDrop = (view: View, { id, kind, process }: DeadLetter): void =>
  confirmDelete(view, {
    title: 'Delete this event?',
    text: `A ${kind} of ${process} is deleted permanently. This cannot be undone.`,
    submitLabel: 'Delete event',
    path: `api/dead/${encodeURIComponent(id)}${ofAll(view.app)}`,
    done: 'Event deleted.',
  })

export const askToBury = (view: View): void =>
  confirm(view, {
    title: 'Move refused events to the rejected list?',
    text:
      'Delivery is paused by a foreign field type or a broken table. Events accepted until now that the store ' +
      'refuses become rejected events with this reason, of all accounts. You can replay them after the repair.',
    children: <Field name="reason" label="Reason" required maxLength={500} />,
    submitLabel: 'Move events',
    isDanger: true,
    async submit(body) {
      await view.app.api.send('POST', 'api/dead/held', body)
      return 'Refused events are being moved to the rejected ones.'
    },
  })
