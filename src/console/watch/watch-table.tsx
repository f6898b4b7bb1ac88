// The watches: what each fires for, whom it notifies, and what can be done with it.
import type { Channel } from '../../wire/channels.ts'
import type { Watch } from '../../wire/watches.ts'
import { announced, confirm } from '../kit/confirm.tsx'
import { SelectField } from '../kit/form.tsx'
import { parseTime } from '../kit/format-time.ts'
import { Menu, MenuAction } from '../kit/menu.tsx'
import { openDialog } from '../kit/modal.tsx'
import type { App } from '../kit/page.ts'
import { formatRoute } from '../kit/route.ts'
import { actionColumn, RowAction, Table } from '../kit/table.tsx'
import { Moment } from '../kit/time.tsx'
import { describeConditions } from './describe-watch.ts'
import { WatchDialog } from './watch-dialog.tsx'

interface Props {
  readonly app: App
  readonly watches: readonly Watch[]
  readonly channels: readonly Channel[]
  /** Processes of the last 30 days; undefined: not known. */
  readonly heard: ReadonlySet<string> | undefined
  readonly chosen: string | undefined
  readonly nowMs: number
  act(method: 'PATCH', path: string, done: string, body: object): void
  again(): void
}

const BADGES = { ok: 'good', firing: 'bad', paused: 'off', unknown: 'warn' } as const
const HOUR_MS = 3_600_000
const FOR_GOOD = '9999-12-31T00:00:00Z'
const PAUSES = { 1: '1 hour', 8: '8 hours', 24: '1 day', 168: '7 days', '': 'until resumed' }

export function WatchTable({ app, watches, channels, heard, chosen, nowMs, act, again }: Props) {
  const nameOf = (id: string) => channels.find((channel) => channel.id === id)?.name ?? id
  return (
    <Table<Watch>
      caption="Watches"
      rows={watches}
      isChosen={({ id }) => id === chosen}
      columns={[
        { label: 'State', class: 'tight', cell: (watch) => <State watch={watch} nowMs={nowMs} /> },
        { label: 'Watch', cell: (watch) => <Named watch={watch} heard={heard} /> },
        { label: 'Fires when', class: 'minor', cell: (watch) => describeConditions(watch) },
        {
          label: 'Notifies',
          class: 'extra',
          cell: (watch) => watch.channels.map(nameOf).join(', ') || <span class="when">nobody</span>,
        },
        actionColumn(app.may('member'), (watch) => <Actions {...{ app, watch, channels, act, again }} />),
      ]}
    />
  )
}

const State = ({ watch: { state, paused_until: until }, nowMs }: { watch: Watch; nowMs: number }) => (
  <>
    <span class={`badge badge-${BADGES[state]}`}>{state}</span>
    {state === 'paused' && until !== null && (
      <span class="sub">
        until {parseTime(until) >= parseTime(FOR_GOOD) ? 'resumed' : <Moment at={until} nowMs={nowMs} />}
      </span>
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

type ActionsProps = Pick<Props, 'app' | 'channels' | 'act' | 'again'> & { readonly watch: Watch }

function Actions({ app, watch, channels, act, again }: ActionsProps) {
  const { id, name, state } = watch
  const edit = () => openDialog((close) => <WatchDialog {...{ app, watch, channels, close }} done={again} />)
  const pause = () =>
    confirm({
      title: `Pause ${name}?`,
      text: 'No alerts fire and no notifications are sent until it is resumed. Current alerts continue, silently.',
      children: <SelectField name="paused_until" label="Pause for" options={PAUSES} value="24" />,
      submitLabel: 'Pause watch',
      async submit({ paused_until: hours }) {
        const untilMs = app.nowMs() + Number(hours) * HOUR_MS
        const until = hours === undefined ? FOR_GOOD : new Date(untilMs).toISOString()
        await app.api.send('PATCH', `api/watches/${id}`, { paused_until: until })
        return announced(app, again, 'Watch paused.')
      },
    })
  const resume = () => act('PATCH', `api/watches/${id}`, 'Watch resumed.', { paused_until: null })
  const remove = () =>
    confirm({
      title: `Delete ${name}?`,
      text: 'The watch is deleted for good; its alerts end.',
      submitLabel: 'Delete watch',
      isDanger: true,
      async submit() {
        await app.api.send('DELETE', `api/watches/${id}`)
        return announced(app, again, `${name} deleted.`)
      },
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
