// The channels that a watch notifies: each existing one with a check box, and a new one by its address.
import type { Channel } from '../../wire/channels.ts'
import { FieldFrame } from '../kit/form.tsx'

interface NewAddress {
  readonly isOn: boolean
  readonly text: string
}

interface Props {
  readonly channels: readonly Channel[]
  readonly chosen: readonly string[]
  readonly address: NewAddress
  choose(ids: readonly string[]): void
  setAddress(address: NewAddress): void
}

const memberOf = (text: string) => (!/^https?:/i.test(text) && text.includes('@') ? 'to' : 'url')

/** The body of a request for a channel. */
export const toChannel = (address: string): object => ({ [memberOf(address)]: address.trim() })

export function ChannelChoice({ channels, chosen, address, choose, setAddress }: Props) {
  const toggle = (id: string, isOn: boolean) => choose(isOn ? [...chosen, id] : chosen.filter((other) => other !== id))
  return (
    <fieldset class="checks">
      <legend>Send notifications to</legend>
      <div class="check-row">
        {channels.map(({ id, name, state }) => (
          <label key={id}>
            <input
              type="checkbox"
              checked={chosen.includes(id)}
              onChange={({ currentTarget }) => toggle(id, currentTarget.checked)}
            />{' '}
            <bdi>{name}</bdi>
            {(state === 'pending' || state === 'disabled') && ` (${state})`}
          </label>
        ))}
        <label>
          <input
            type="checkbox"
            checked={address.isOn}
            onChange={({ currentTarget }) => setAddress({ ...address, isOn: currentTarget.checked })}
          />{' '}
          a new channel
        </label>
      </div>
      {address.isOn && (
        <FieldFrame
          name={memberOf(address.text)}
          label="URL or e-mail address"
          hint="Slack, Discord, Teams, ntfy, a webhook, or an e-mail address. A test notification is sent to it."
        >
          {(about) => (
            <input
              {...about}
              name={memberOf(address.text)}
              autocomplete="off"
              placeholder="https://…"
              maxLength={2000}
              required
              value={address.text}
              onInput={({ currentTarget }) => setAddress({ isOn: true, text: currentTarget.value })}
            />
          )}
        </FieldFrame>
      )}
      {chosen.length === 0 && !address.isOn && <p class="warn">No channel: the alert is only shown in this console.</p>}
    </fieldset>
  )
}
