// The channels: where notifications go, how the last one went, and what can be done with each.

import { CHANNEL_TABLE } from '../../wire/channel-kinds.ts'
import type { Channel } from '../../wire/channels.ts'
import { spellSpan } from '../../wire/span-text.ts'
import { confirmDelete } from '../kit/confirm.tsx'
import { Menu, MenuAction } from '../kit/menu.tsx'
import { actionColumn, RowAction, Table } from '../kit/table.tsx'
import { Ago, Moment } from '../kit/time.tsx'
import { useView } from '../kit/view.tsx'
import type { Act } from './alert-table.tsx'
import { ChannelDialog } from './channel-dialog.tsx'

interface Props {
  readonly channels: readonly Channel[]
  readonly act: Act
}

const BADGES = { untested: 'off', delivered: 'good', failing: 'bad', pending: 'warn', disabled: 'warn' } as const

export const ChannelTable = ({ channels, act }: Props) => (
  <Table<Channel>
    caption="Channels"
    rows={channels}
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
            {channel.former_until !== undefined && (
              <span class="sub">
                The former secret signs, too, until <Moment at={channel.former_until} />
              </span>
            )}
            <span class="sub on-phone">
              <Last channel={channel} />
            </span>
          </>
        ),
      },
      {
        label: 'Last delivery',
        class: 'minor',
        cell: (channel) => <Last channel={channel} />,
      },
      actionColumn((channel) => <Actions channel={channel} act={act} />, 'member'),
    ]}
  />
)

const Last = ({ channel: { last } }: { channel: Channel }) =>
  last === null ? (
    <>Not tested yet</>
  ) : (
    <>
      {last.detail} · <Ago at={last.at} />
    </>
  )

function Actions({ channel, act }: Pick<Props, 'act'> & { readonly channel: Channel }) {
  const view = useView()
  const { app, again, open } = view
  const { id, name, state } = channel
  const enable = (done: string) => act(() => app.api.send('PATCH', `api/channels/${id}`, { enabled: true }), done)
  const test = () => act(() => app.api.send('POST', `api/channels/${id}/test`), 'Test notification delivered.')
  const edit = () => open((close) => <ChannelDialog {...{ channel, close }} done={again} />)
  const remove = () =>
    confirmDelete(view, {
      title: `Delete ${name}?`,
      text: 'The channel is deleted for good; watches no longer use it.',
      submitLabel: 'Delete channel',
      path: `api/channels/${id}`,
      done: `${name} deleted.`,
    })
  return (
    <>
      <RowAction label="Send test" about={name} act={test} />
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

/** `Slack · https://hooks.slack.com/… · after 15 min · only late, failed`. */
const describeChannel = (channel: Channel): string =>
  [
    CHANNEL_TABLE[channel.kind].label,
    addressOf(channel),
    channel.delay && `after ${spellSpan(channel.delay)}`,
    channel.conditions && `only ${channel.conditions.join(', ')}`,
    channel.only_firing && 'not when resolved',
  ]
    .filter(Boolean)
    .join(' · ')

/** Where it goes, without what is secret. */
const addressOf = ({ to, url, chat }: Channel): string =>
  [to ?? url, chat].filter((part) => part !== undefined).join(' · ')
