// A channel, new or changed: its kind as a tile, its address, and what it takes. A new one is tested before it is made,
// and the dialog says what its receiver answered.
import { useRef, useState } from 'preact/hooks'
import { CHANNEL_KINDS, type ChannelKind, channelKind } from '../../wire/channel-kinds.ts'
import type { Channel, NewChannel } from '../../wire/channels.ts'
import { CONDITION_TABLE, CONDITIONS } from '../../wire/conditions.ts'
import { ApiError } from '../kit/api.ts'
import { Fold } from '../kit/fold.tsx'
import { AreaField, Field, Form, type Values } from '../kit/form.tsx'
import { Modal } from '../kit/modal.tsx'
import { useView } from '../kit/view.tsx'
import { CHANNEL_MEMBERS, MEMBER_TEXT, readChannel, textOf } from './channel-values.ts'
import { TestResult } from './test-result.tsx'

interface Props {
  /** To change it; otherwise it is a new one. */
  readonly channel?: Channel
  /** For a new channel: whether e-mail is set up. */
  readonly hasEmail?: boolean | undefined
  /** It was saved. */
  done(): void
  close(): void
}

export function ChannelDialog({ channel, hasEmail = true, done, close }: Props) {
  const { app } = useView()
  const [kind, setKind] = useState<ChannelKind>(channel?.kind ?? (hasEmail ? 'email' : 'webhook'))
  const [made, setMade] = useState<NewChannel>()
  const [isRefused, setRefused] = useState(false)
  const isTested = useRef(true)

  async function save(values: Values): Promise<void> {
    if (channel !== undefined) {
      await app.api.send('PATCH', `api/channels/${channel.id}`, readChannel(values, channel))
      done()
      return close()
    }
    const body = { kind, name: channelKind(kind).label, ...readChannel(values) }
    const path = isTested.current ? 'api/channels?test=true' : 'api/channels'
    isTested.current = true
    try {
      const answer = await app.api.send('POST', path, body)
      done()
      setMade(answer)
    } catch (error) {
      setRefused(error instanceof ApiError && error.code === 'channel_failed')
      throw error
    }
  }
  function saveUntested(event: { readonly currentTarget: HTMLButtonElement }): void {
    isTested.current = false
    event.currentTarget.form!.requestSubmit()
  }

  if (made !== undefined) {
    const text = made.test === undefined ? 'It was not tested.' : `Test: ${made.test.detail}`
    return (
      <TestResult title={`${made.channel.name} is ready`} lines={[text]} secret={made.channel.secret} close={close} />
    )
  }
  return (
    <Modal title={channel === undefined ? 'Create channel' : `Edit ${channel.name}`} class="watch-dialog" close={close}>
      <Form
        submitLabel={channel === undefined ? 'Create and send test' : 'Save channel'}
        submit={save}
        buttons={
          <>
            {isRefused && (
              <button type="button" class="button" onClick={saveUntested}>
                Create without a test
              </button>
            )}
            <button type="button" class="button" onClick={close}>
              Cancel
            </button>
          </>
        }
      >
        {channel === undefined && <Kinds kind={kind} choose={setKind} />}
        <Members key={kind} kind={kind} channel={channel} />
        <Field
          name="name"
          label="Name"
          maxLength={100}
          value={channel?.name ?? ''}
          placeholder={channelKind(kind).label}
          required={channel !== undefined}
        />
        <Filters channel={channel} />
        <p class="field-hint">
          Its messages say what happened, such as{' '}
          <q>Firing: nightly import failed at 03:14. Exception: connection reset</q>, and lead to the page of the alert:
          its run beside the last good one, who knows, your note, and Acknowledge.
        </p>
      </Form>
    </Modal>
  )
}

const Kinds = ({ kind, choose }: { kind: ChannelKind; choose(kind: ChannelKind): void }) => (
  <fieldset class="tiles">
    <legend>Kind</legend>
    {CHANNEL_KINDS.map((one) => (
      <label key={one} class="tile">
        <input type="radio" name="" checked={one === kind} onChange={() => choose(one)} />
        {channelKind(one).label}
      </label>
    ))}
  </fieldset>
)

function Members({ kind, channel }: { kind: ChannelKind; channel: Channel | undefined }) {
  const { required, optional = [], placeholder, hint, link } = channelKind(kind)
  return (
    <>
      {CHANNEL_MEMBERS.filter((member) => required.includes(member) || optional.includes(member)).map((member) => {
        const common = { name: member, ...MEMBER_TEXT[member], value: textOf(channel, member) }
        return member === 'headers' ? (
          <AreaField key={member} {...common} />
        ) : (
          <Field
            key={member}
            {...common}
            maxLength={2000}
            required={required.includes(member)}
            {...((member === 'url' || member === 'to') && placeholder !== undefined && { placeholder })}
          />
        )
      })}
      <p class="field-hint">
        {hint}{' '}
        {link !== undefined && (
          <a href={link[1]} target="_blank" rel="noreferrer">
            {link[0]}
          </a>
        )}
      </p>
    </>
  )
}

function Filters({ channel }: { channel: Channel | undefined }) {
  const isFiltered = channel !== undefined && (channel.conditions !== null || channel.only_firing || !!channel.delay)
  return (
    <Fold label="Which alerts" isOpen={isFiltered}>
      <fieldset class="checks">
        <legend>Conditions</legend>
        <div class="check-row">
          {CONDITIONS.map((condition) => (
            <label key={condition}>
              <input
                type="checkbox"
                name={`on/${condition}`}
                defaultChecked={channel?.conditions?.includes(condition) ?? true}
              />{' '}
              {CONDITION_TABLE[condition].label}
            </label>
          ))}
        </div>
      </fieldset>
      <label class="check">
        <input type="checkbox" name="only_firing" defaultChecked={channel?.only_firing ?? false} /> Only when an alert
        fires, not when it is resolved
      </label>
      <Field
        name="delay"
        label="Only after"
        placeholder="at once"
        value={channel?.delay ?? ''}
        hint="Notifies only while the alert has been firing for this long, such as 15m."
      />
    </Fold>
  )
}
