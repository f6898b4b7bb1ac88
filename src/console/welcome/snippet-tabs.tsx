// Snippets to paste, with the key of this page in them; one that pings gets a key that may do nothing else.
import { useState } from 'preact/hooks'
import { CopyButton } from '../kit/copy-button.tsx'
import { useAttempt } from '../kit/use-attempt.tsx'
import { useView } from '../kit/view.tsx'
import { writeSnippets } from './snippets.ts'
import { Tabs } from './tabs.tsx'

interface Props {
  readonly secret: string | undefined
  readonly chosen: string
  choose(language: string): void
}

export function SnippetTabs({ secret = 'YOUR_API_KEY', chosen, choose }: Props) {
  const { app } = useView()
  const [token, setToken] = useState<string>()
  const snippets = writeSnippets({ baseUrl: app.baseUrl, keyHeader: app.keyHeader, secret, token })
  const tabs = snippets.map(({ name, hint, text }) => ({
    label: name,
    content: (
      <div class="snippet">
        <div class="snippet-head">
          <p class="muted">{hint}</p>
          <CopyButton label="Copy" text={text} />
        </div>
        <pre tabIndex={0} role="region" aria-label={`${name} example`}>
          <code>{text}</code>
        </pre>
        {name === 'ping' && app.may('member') && <PingKey token={token} made={setToken} />}
      </div>
    ),
  }))
  return <Tabs label="Languages" {...{ tabs, chosen, choose }} />
}

interface PingProps {
  readonly token: string | undefined
  made(token: string): void
}

function PingKey({ token, made }: PingProps) {
  const { app } = useView()
  const { fault, attempt } = useAttempt()
  if (token !== undefined)
    return <p class="muted">The token is shown only once. It can send pings, and nothing else.</p>
  const create = () =>
    attempt(async () => {
      const { key } = await app.api.send('POST', 'api/keys', { name: 'first ping', scopes: ['ping'] })
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
