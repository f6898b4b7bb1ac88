// How this process sends a run: lines to paste, with its name in them.
import { useState } from 'preact/hooks'
import { pingLine } from '../../wire/snippets.ts'
import { CopyButton } from '../kit/copy-button.tsx'
import { Card } from '../kit/icon.tsx'
import { PingKey } from '../kit/ping-key.tsx'
import { formatRoute } from '../kit/route.ts'
import { useView } from '../kit/view.tsx'

const KINDS = ['curl', 'cron', 'exec'] as const

const shellQuoted = (text: string): string => (/^[\w.-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

function lineOf(kind: (typeof KINDS)[number], process: string, baseUrl: string, token = '$TOKEN'): string {
  const ping = pingLine(baseUrl, token, process)
  switch (kind) {
    case 'curl':
      return ping
    case 'cron': // cron reads % as a line break
      return `0 3 * * *  /opt/job.sh && ${ping.replaceAll('%', '\\%')}`
    case 'exec':
      return `stint exec --process ${shellQuoted(process)} -- /opt/job.sh`
    default:
      return kind satisfies never
  }
}

export function SendRun({ process }: { process: string }) {
  const { baseUrl } = useView().app
  const [kind, setKind] = useState<(typeof KINDS)[number]>('curl')
  const [token, setToken] = useState<string>()
  const line = lineOf(kind, process, baseUrl, token)
  return (
    <Card title="Send a run">
      <div class="segments" role="group" aria-label="Kind">
        {KINDS.map((name) => (
          <button key={name} type="button" aria-pressed={name === kind} onClick={() => setKind(name)}>
            {name}
          </button>
        ))}
      </div>
      <pre>
        <code>{line}</code>
      </pre>
      {token !== undefined && kind !== 'exec' && <CopyButton label="Copy" text={line} />}
      {kind !== 'exec' && <PingKey process={process} token={token} made={setToken} />}
      <p class="sub">
        {kind === 'exec' && (
          <>
            {'Needs a key with the permission write. '}
            <a href={formatRoute('keys')}>Create a key</a>
            {' · '}
          </>
        )}
        <a href="clients">Install a client</a>
      </p>
    </Card>
  )
}
