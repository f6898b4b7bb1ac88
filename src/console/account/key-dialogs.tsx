// The dialogs that make, rotate and revoke a key. A new key is shown once.
import { useState } from 'preact/hooks'
import type { IssuedKey, Key } from '../../wire/keys.ts'
import type { Scope } from '../../wire/roles.ts'
import { OVERLAP_MAX_S } from '../../wire/roles.ts'
import { tryLine } from '../../wire/snippets.ts'
import { ConfirmDialog, confirm, confirmDelete } from '../kit/confirm.tsx'
import { KeySecret, SecretBox } from '../kit/copy-button.tsx'
import { Field, type Values } from '../kit/form.tsx'
import { formatCount } from '../kit/format-number.ts'
import { formatAgo, parseTime } from '../kit/format-time.ts'
import { revealOnce } from '../kit/modal.tsx'
import { useView, type View } from '../kit/view.tsx'

const HOUR_S = 3_600
const OVERLAP_MAX_HOURS = OVERLAP_MAX_S / HOUR_S

const SCOPE_TEXTS: Readonly<Record<Scope, string>> = {
  write: 'send runs, metrics and exceptions',
  read: 'query what was sent',
  manage: 'change watches, channels and keys',
  ping: 'only pings, as its address shows the key',
}
const ALL_SCOPES = Object.keys(SCOPE_TEXTS) as Scope[]

export const askForKey = ({ open }: View): void => open((close) => <CreateDialog close={close} />)

function CreateDialog({ close }: { close(): void }) {
  const view = useView()
  const [chosen, setChosen] = useState<readonly Scope[]>(['write'])
  /** The server refuses `ping` beside others. */
  const scopes = chosen.includes('ping') ? (['ping'] as const) : chosen
  async function submit({ name }: Values) {
    const { key } = await view.app.api.send('POST', 'api/keys', { name, scopes })
    return () => reveal(view, key)
  }
  return (
    <ConfirmDialog title="Create key" submitLabel="Create key" submit={submit} close={close}>
      <fieldset class="checks">
        <legend>Permissions</legend>
        {ALL_SCOPES.map((scope) => (
          <label key={scope}>
            <input
              type="checkbox"
              checked={chosen.includes(scope)}
              disabled={scope !== 'ping' && chosen.includes('ping')}
              onChange={({ currentTarget }) =>
                setChosen(ALL_SCOPES.filter((one) => (one === scope ? currentTarget.checked : chosen.includes(one))))
              }
            />{' '}
            {scope}: {SCOPE_TEXTS[scope]}
          </label>
        ))}
      </fieldset>
      <Field name="name" label="Name" hint="Where it is used, for example: nightly import." required maxLength={100} />
    </ConfirmDialog>
  )
}

export const askForRotation = (view: View, { id, name }: Key): void =>
  confirm(view, {
    title: `Rotate ${name}?`,
    text: 'You get a new key with the same name and permissions. Switch your code to it while the old one is valid.',
    children: (
      <Field
        name="overlap_seconds"
        label="Keep the old key valid for (hours)"
        hint={`0 invalidates it at once; at most ${formatCount(OVERLAP_MAX_HOURS)} hours (30 days).`}
        type="number"
        required
        min={0}
        max={OVERLAP_MAX_HOURS}
        step={1}
        value={24}
      />
    ),
    submitLabel: 'Rotate',
    async submit({ overlap_seconds: hours }) {
      const body = { overlap_seconds: Math.round(Number(hours) * HOUR_S) }
      const { key } = await view.app.api.send('POST', `api/keys/${id}/rotate`, body)
      return () => reveal(view, key)
    },
  })

export const askForRevocation = (view: View, { id, name, last_used_at: at }: Key): void =>
  confirmDelete(view, {
    title: `Revoke ${name}?`,
    text: (
      <>
        <p>Requests with this key are refused from now on, and their events are lost. This cannot be undone.</p>
        <p class="muted">{at === null ? 'Never used.' : `Last used ${formatAgo(parseTime(at), view.app.nowMs())}.`}</p>
      </>
    ),
    submitLabel: 'Revoke key',
    path: `api/keys/${id}`,
    done: 'Key revoked.',
  })

function reveal(view: View, key: IssuedKey): void {
  view.again()
  view.app.announce('New key')
  revealOnce(
    view,
    { title: 'New key', keep: 'Save the key first: it is not shown again.' },
    <>
      <KeySecret secret={key.secret} />
      <SecretBox name="Try it" secret={tryLine(view.app.baseUrl, key)} copyLabel="Copy curl line" />
    </>,
  )
}
