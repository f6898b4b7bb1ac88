// Snippets to paste, with the key of this page in them; those for hosts that run jobs get a key that may write alone,
// one that pings a key that may do nothing else.
import { useState } from 'preact/hooks'
import { FIRST_PING, type Snippets } from '../../wire/snippets.ts'
import { CopyButton } from '../kit/copy-button.tsx'
import { PingKey } from '../kit/ping-key.tsx'
import { Preformatted } from '../kit/preformatted.tsx'
import { useAttempt } from '../kit/use-attempt.tsx'
import { useView } from '../kit/view.tsx'
import { fillIn } from './snippets.ts'
import { Tabs } from './tabs.tsx'

interface Props {
  readonly snippets: Snippets
  readonly secret: string | undefined
  readonly chosen: string
  choose(language: string): void
}

export function SnippetTabs({ snippets: { first, schedulers }, secret = 'YOUR_API_KEY', chosen, choose }: Props) {
  const { app } = useView()
  const [token, setToken] = useState<string>()
  const [hostKey, setHostKey] = useState<string>()
  const hostSecret = hostKey ?? (secret === app.firstKey?.secret ? HOST_KEY : secret) // the first key may also read
  const [isAll, setAll] = useState(false)
  const shown = isAll ? [...first, ...schedulers] : first
  const tabs = fillIn(shown, { baseUrl: app.baseUrl, secret, hostSecret, token }).map(({ name, hint, text }) => ({
    label: name,
    content: (
      <div class="snippet">
        <div class="snippet-head">
          <p class="muted">{hint}</p>
          <CopyButton label="Copy" text={text} />
        </div>
        <Preformatted label={`${name} example`}>
          <code>{text}</code>
        </Preformatted>
        {text.includes(HOST_KEY) && <HostKey made={setHostKey} />}
        {name === 'ping' && <PingKey process={FIRST_PING} token={token} made={setToken} />}
      </div>
    ),
  }))
  return (
    <>
      <Tabs label="Languages" {...{ tabs, chosen, choose }} />
      {!isAll && (
        <div>
          <button type="button" class="button" onClick={() => setAll(true)}>
            Show all schedulers
          </button>
        </div>
      )}
    </>
  )
}

/** Until there is one. */
const HOST_KEY = 'YOUR_WRITE_KEY'

function HostKey({ made }: { made(secret: string): void }) {
  const { app } = useView()
  const { fault, attempt } = useAttempt()
  if (!app.may('member')) return null
  const create = () =>
    attempt(async () => {
      const { key } = await app.api.send('POST', 'api/keys', { name: 'host of jobs', scopes: ['write'] })
      made(key.secret)
    })
  return (
    <div>
      <button type="button" class="button" onClick={() => void create()}>
        Create a key that may only write
      </button>
      {fault}
    </div>
  )
}
