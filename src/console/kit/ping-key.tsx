// Makes the ping address of one process: its key is good for no other, and shown only this once.
import { useAttempt } from './use-attempt.tsx'
import { useView } from './view.tsx'

interface Props {
  readonly process: string
  readonly token: string | undefined
  made(token: string): void
}

const NAME_MAX = 100

export function PingKey({ process, token, made }: Props) {
  const { app } = useView()
  const { fault, attempt } = useAttempt()
  if (!app.may('member')) return null
  if (token !== undefined)
    return <p class="muted">The token is shown only once. It can send pings of this process, and nothing else.</p>
  const create = () =>
    attempt(async () => {
      const name = [...`ping ${process}`].slice(0, NAME_MAX).join('')
      const { key } = await app.api.send('POST', 'api/keys', { name, scopes: ['ping'], process })
      made(key.secret)
    })
  return (
    <div>
      <button type="button" class="button" onClick={() => void create()}>
        Create a ping address
      </button>
      {fault}
    </div>
  )
}
