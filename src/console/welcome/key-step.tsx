// The key that snippets are written with: shown this once. Without one to show, another one can be created: a reload
// may have come before the key was copied.
import { KeySecret } from '../kit/copy-button.tsx'
import { useAttempt } from '../kit/use-attempt.tsx'
import { useView } from '../kit/view.tsx'

interface Props {
  readonly secret: string | undefined
  made(secret: string): void
}

export function KeyStep({ secret, made }: Props) {
  const { app } = useView()
  const { fault, attempt } = useAttempt()
  if (secret !== undefined) return <KeySecret secret={secret} />
  const create = () =>
    attempt(async () => {
      const { key } = await app.api.send('POST', 'api/keys', { name: 'first steps', scopes: ['write'] })
      made(key.secret)
    })
  return (
    <div>
      <p class="muted">
        A key is shown only once, and only its hash is stored. If you have not saved one, create another.
      </p>
      <button type="button" class="button" onClick={() => void create()}>
        Create a key
      </button>
      {fault}
    </div>
  )
}
