// The page of a link that confirms an address: the button does, because mail scanners open links.
import { useLayoutEffect, useState } from 'preact/hooks'
import type { Api } from '../kit/api.ts'
import { useAttempt } from '../kit/use-attempt.tsx'
import { DoorFrame } from './door.tsx'

interface ConfirmAddressProps {
  readonly api: Api
  readonly token: string
  setTitle(title: string): void
  showDoor(note?: string): Promise<void>
}

const QUESTION =
  'Confirm that this address is yours. If you are not signed in with it in this browser, its password ends, because ' +
  'somebody else may have set it.'

export function ConfirmAddress({ api, token, setTitle, showDoor }: ConfirmAddressProps) {
  const [said, setSaid] = useState<string>()
  const { fault, attempt } = useAttempt()
  useLayoutEffect(() => setTitle('Confirm your address'), [])
  const confirm = () =>
    attempt(async () => {
      const { email, password_ended } = await api.send('POST', 'api/address/confirm', { token })
      const next =
        'Its password has ended, because somebody else may have set it: choose “Forgot your password?” to sign in.'
      setSaid(`${email} is confirmed. ${password_ended ? next : ''}`)
    })
  const leave = () => {
    history.replaceState(null, '', '#/')
    void showDoor('')
  }
  return (
    <DoorFrame>
      <div class="door-place">
        <h1 tabIndex={-1}>Confirm your address</h1>
        {fault}
        <p role="status">{said ?? QUESTION}</p>
        <button
          type="button"
          class="button button-main"
          onClick={() => (said === undefined ? void confirm() : leave())}
        >
          {said === undefined ? 'Confirm' : 'Continue'}
        </button>
      </div>
    </DoorFrame>
  )
}
