// The key that snippets are written with: shown this once. Without one to show, another one can be created: a reload may
// have come before the key was copied.
import type { KeyAnswer } from '../../wire/keys.ts'
import { KeySecret } from '../kit/copy-button.tsx'
import type { App } from '../kit/page.ts'
import { useAttempt } from '../kit/use-attempt.tsx'

interface Props {
  readonly app: App
  readonly secret: string | undefined
  made(secret: string): void
}

export function KeyStep({ app, secret, made }: Props) {
  const { fault, attempt } = useAttempt()
  if (secret !== undefined) return <KeySecret secret={secret} />
  const create = () =>
    attempt(async () => {
      const { key } = await app.api.send<KeyAnswer>('POST', 'api/keys', { name: 'first steps', scopes: ['write'] })
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
