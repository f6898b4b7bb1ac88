// The watches: what each fires for, whom it notifies, and what can be done with it.
import type { Channel } from '../../wire/channels.ts'
import { describeConditions } from '../../wire/conditions.ts'
import type { Watch } from '../../wire/watches.ts'
import { confirm, confirmDelete } from '../kit/confirm.tsx'
import { SelectField } from '../kit/form.tsx'
import { parseTime } from '../kit/format-time.ts'
import { Menu, MenuAction } from '../kit/menu.tsx'
import { formatRoute } from '../kit/route.ts'
import { actionColumn, RowAction, Table } from '../kit/table.tsx'
import { Moment } from '../kit/time.tsx'
import { useView } from '../kit/view.tsx'
import type { Act } from './alert-table.tsx'
import { WatchDialog } from './watch-dialog.tsx'

interface Props {
  readonly watches: readonly Watch[]
  readonly channels: readonly Channel[]
  /** Processes of the last 30 days; undefined: not known. */
  readonly heard: ReadonlySet<string> | undefined
  readonly chosen: string | undefined
  readonly act: Act
}

const BADGES = { ok: 'good', firing: 'bad', paused: 'off', unknown: 'warn' } as const
const HOUR_MS = 3_600_000
const FOR_GOOD = '9999-12-31T00:00:00Z'
const PAUSES = { 1: '1 hour', 8: '8 hours', 24: '1 day', 168: '7 days', '': 'until resumed' }

export function WatchTable({ watches, channels, heard, chosen, act }: Props) {
  const nameOf = (id: string) => channels.find((channel) => channel.id === id)?.name ?? id
  return (
    <Table<Watch>
      caption="Watches"
      rows={watches}
      isChosen={({ id }) => id === chosen}
      columns={[
        { label: 'State', class: 'tight', cell: (watch) => <State watch={watch} /> },
        { label: 'Watch', cell: (watch) => <Named watch={watch} heard={heard} /> },
        { label: 'Fires when', class: 'minor', cell: (watch) => describeConditions(watch) },
        {
          label: 'Notifies',
          class: 'extra',
          cell: (watch) => watch.channels.map(nameOf).join(', ') || <span class="when">no one</span>,
        },
        actionColumn((watch) => <Actions {...{ watch, channels, act }} />, 'member'),
      ]}
    />
  )
}

const State = ({ watch: { state, paused_until: until } }: { watch: Watch }) => (
  <>
    <span class={`badge badge-${BADGES[state]}`}>{state}</span>
    {state === 'paused' && until !== null && (
      <span class="sub">until {parseTime(until) >= parseTime(FOR_GOOD) ? 'resumed' : <Moment at={until} />}</span>
    )}
  </>
)

function Named({ watch, heard }: { watch: Watch } & Pick<Props, 'heard'>) {
  const { name, process, meta, late } = watch
  const isPattern = process.includes('*')
  // only `late` would report it: the name may be mistyped
  const isUnheard = heard !== undefined && late === null && !isPattern && !heard.has(process)
  return (
    <>
      <strong>
        <bdi>{name}</bdi>
      </strong>
      <span class="sub">
        {isPattern ? (
          process
        ) : (
          <a class="plain" href={formatRoute('process', { process })}>
            <bdi>{process}</bdi>
          </a>
        )}
        {meta !== null && ` (${meta || 'without meta'})`}
      </span>
      <span class="sub on-phone">when it {describeConditions(watch)}</span>
      {isUnheard && <span class="sub warn">nothing received in 30 days</span>}
    </>
  )
}

function Actions({ watch, channels, act }: Pick<Props, 'channels' | 'act'> & { readonly watch: Watch }) {
  const view = useView()
  const { app, again, open } = view
  const { id, name, state } = watch
  const edit = () => open((close) => <WatchDialog {...{ watch, channels, close }} done={again} />)
  const pause = () =>
    confirm(view, {
      title: `Pause ${name}?`,
      text: 'No alerts fire and no notifications are sent until it is resumed. Current alerts continue, silently.',
      children: <SelectField name="paused_until" label="Pause for" options={PAUSES} value="24" />,
      submitLabel: 'Pause watch',
      async submit({ paused_until: hours }) {
        const untilMs = app.nowMs() + Number(hours) * HOUR_MS
        const until = hours === undefined ? FOR_GOOD : new Date(untilMs).toISOString()
        await app.api.send('PATCH', `api/watches/${id}`, { paused_until: until })
        return 'Watch paused.'
      },
    })
  const resume = () => act(() => app.api.send('PATCH', `api/watches/${id}`, { paused_until: null }), 'Watch resumed.')
  const remove = () =>
    confirmDelete(view, {
      title: `Delete ${name}?`,
      text: 'The watch is deleted for good; its alerts end.',
      submitLabel: 'Delete watch',
      path: `api/watches/${id}`,
      done: `${name} deleted.`,
    })
  return (
    <>
      <RowAction label="Edit" about={name} act={edit} />
      <Menu label="More" name={`More for ${name}`}>
        {state === 'paused' ? (
          <MenuAction label="Resume" about={name} act={resume} />
        ) : (
          <MenuAction label="Pause" about={name} act={pause} />
        )}
        <MenuAction label="Delete" about={name} isDanger act={remove} />
      </Menu>
    </>
  )
}
