// The channels: where notifications go, how the last one went, and what can be done with each.
import type { Channel } from '../../wire/channels.ts'
import { announced, confirm } from '../kit/confirm.tsx'
import { Menu, MenuAction } from '../kit/menu.tsx'
import { openDialog } from '../kit/modal.tsx'
import type { App } from '../kit/page.ts'
import { actionColumn, RowAction, Table } from '../kit/table.tsx'
import { Ago } from '../kit/time.tsx'
import { ChannelDialog } from './channel-dialog.tsx'
import { describeChannel } from './describe-watch.ts'

interface Props {
  readonly app: App
  readonly channels: readonly Channel[]
  readonly nowMs: number
  act(method: 'POST' | 'PATCH', path: string, done: string, body?: object): void
  again(): void
}

const BADGES = { untested: 'off', delivered: 'good', failing: 'bad', pending: 'warn', disabled: 'warn' } as const

export const ChannelTable = (props: Props) => (
  <Table<Channel>
    caption="Channels"
    rows={props.channels}
    columns={[
      {
        label: 'State',
        class: 'tight',
        cell: ({ state }) => <span class={`badge badge-${BADGES[state]}`}>{state}</span>,
      },
      {
        label: 'Channel',
        cell: (channel) => (
          <>
            <strong>
              <bdi>{channel.name}</bdi>
            </strong>
            <span class="sub">{describeChannel(channel)}</span>
            <span class="sub on-phone">
              <Last channel={channel} nowMs={props.nowMs} />
            </span>
          </>
        ),
      },
      {
        label: 'Last delivery',
        class: 'minor',
        cell: (channel) => <Last channel={channel} nowMs={props.nowMs} />,
      },
      actionColumn(props.app.may('member'), (channel) => <Actions {...props} channel={channel} />),
    ]}
  />
)

const Last = ({ channel: { last }, nowMs }: { channel: Channel; nowMs: number }) =>
  last === null ? (
    <>Not tested yet</>
  ) : (
    <>
      {last.detail} · <Ago at={last.at} nowMs={nowMs} />
    </>
  )

function Actions({ app, channel, act, again }: Props & { readonly channel: Channel }) {
  const { id, name, state } = channel
  const path = `api/channels/${id}`
  const enable = (done: string) => act('PATCH', path, done, { enabled: true })
  const edit = () => openDialog((close) => <ChannelDialog app={app} channel={channel} done={again} close={close} />)
  const remove = () =>
    confirm({
      title: `Delete ${name}?`,
      text: 'The channel is deleted for good; watches no longer use it.',
      submitLabel: 'Delete channel',
      isDanger: true,
      async submit() {
        await app.api.send('DELETE', path)
        return announced(app, again, `${name} deleted.`)
      },
    })
  return (
    <>
      <RowAction
        label="Send test"
        about={name}
        act={() => act('POST', `${path}/test`, 'Test notification delivered.')}
      />
      <Menu label="More" name={`More for ${name}`}>
        {state === 'pending' && (
          <MenuAction label="Send the link again" about={name} act={() => enable('Confirmation link sent.')} />
        )}
        {state === 'disabled' && (
          <MenuAction label="Enable" about={name} act={() => enable('Enabled; e-mail may need its link.')} />
        )}
        <MenuAction label="Edit" about={name} act={edit} />
        <MenuAction label="Delete" about={name} isDanger act={remove} />
      </Menu>
    </>
  )
}
