// Complete snippets for a first run, ready to paste: the first line installs what the rest needs, from this Stint. Each
// but the ping sends a start and an end, `failed` and the exception if the job fails, and lets the failure pass to the caller.

/** The process of the first snippet. */
export const FIRST_PING = 'first-steps'

export interface SnippetSettings {
  readonly baseUrl: string
  readonly keyHeader: string
  readonly secret: string
  /** Secret of a key that may write alone, for a host that runs jobs; `secret` unless it is given. */
  readonly hostSecret?: string | undefined
  /** Secret of a key that may ping; without one the reader puts it in. */
  readonly token?: string | undefined
}

export interface Snippet {
  readonly name: string
  readonly hint: string
  readonly text: string
}

const quoted = (name: string): string => `'${name}'`

/** Secret, header and address need no escaping in these languages: only letters, digits and `_ - : / . [ ]`. */
export function writeSnippets({
  baseUrl,
  keyHeader,
  secret,
  hostSecret = secret,
  token = 'YOUR_PING_TOKEN',
}: SnippetSettings): readonly Snippet[] {
  const service = /^x-(.+)-api-key$/.exec(keyHeader)?.[1] ?? 'stint'
  const isUsual = service === 'stint'
  const env = `STINT_URL='${baseUrl}' STINT_API_KEY='${secret}'${isUsual ? '' : ` STINT_SERVICE='${service}'`}`
  const file = `{"url": "${baseUrl}", "api_key": "${hostSecret}"${isUsual ? '' : `, "service": "${service}"`}}`
  const clients = `${baseUrl}/clients`
  const install = `curl -fsSo stint.sh '${clients}/stint.sh' && sudo install stint.sh /usr/local/bin/stint`
  return [
    {
      name: 'ping',
      hint: 'Add one line of curl after a job. It is sent only if the job succeeds. The page of the process is there two seconds later.',
      text: `# nothing to install; put && and this line behind your job
curl -fsS -m 10 --retry 5 -o /dev/null '${baseUrl}/ping/${token}/${FIRST_PING}'
`,
    },
    {
      name: 'cron',
      hint: 'Times a line of your crontab and reports when it fails. Cron has no variables: the key is in a file.',
      text: `# ${install}
mkdir -p ~/.config && (umask 077; echo '${file}' > ~/.config/stint.json)
# crontab -e
*/5 * * * * /usr/local/bin/stint exec --process 'first steps' --meta cron -- sleep 0.5
`,
    },
    {
      name: 'shell',
      hint: 'Times any command, passes its output and exit code on, and reports its failure.',
      text: `# ${install}
export ${env}
stint exec --process 'first steps' --meta shell -- sleep 0.5
`,
    },
    {
      name: 'TypeScript',
      hint: 'Node 20 or later, Bun or Deno. An error of the job is reported and passed on.',
      text: `// to install: curl -fsSO '${clients}/stint.mjs' -O '${clients}/stint.d.mts'
import { createStint } from ${quoted('./stint.mjs')} // in job.mjs

const stint = createStint({ url: '${baseUrl}', key: '${secret}'${isUsual ? '' : `, service: '${service}'`} })
const job = stint.run('first steps', { meta: 'TypeScript' }, async (run) => {
  await new Promise((done) => setTimeout(done, 500)) // your code
  run.metrics({ rows: 42 })
})
await job.finally(() => stint.flush()) // an uncaught error ends the process at once
`,
    },
    {
      name: 'Python',
      hint: 'Python 3.9 or later; one file without dependencies. An error of the job is reported and passed on.',
      text: `# to install: curl -fsSO '${clients}/stint.py'
import time
import stint

client = stint.Stint(url="${baseUrl}", key="${secret}"${isUsual ? '' : `, service="${service}"`})
with client.run("first steps", meta="Python") as job:
    time.sleep(0.5)  # your code
    job.metrics({"rows": 42})
`,
    },
    {
      name: 'curl',
      hint: 'A complete run without anything of Stint: start, your command, end. Paste it into a terminal.',
      text: `# apt-get install curl
send() {
  printf '${keyHeader}: ${secret}' | curl -fsS -m 5 -o /dev/null -H @- -H 'content-type: application/json' \\
    -d "{\\"process\\":\\"first steps\\",\\"meta\\":\\"curl\\"$2}" "${baseUrl}/v1/$1"
}

send start
if sleep 0.5; then # your command
  send end
else
  send end ',"failed":true'
fi
`,
    },
    {
      name: 'OpenTelemetry',
      hint: 'Every root span is a run; a span with status ERROR has failed. Any SDK works: point its exporter here.',
      text: `// job.mjs, after: npm install @opentelemetry/sdk-trace @opentelemetry/exporter-trace-otlp-proto
import { OTLPTraceExporter } from ${quoted('@opentelemetry/exporter-trace-otlp-proto')}
import { BatchSpanProcessor, TracerProvider } from ${quoted('@opentelemetry/sdk-trace')}

const exporter = new OTLPTraceExporter({ url: '${baseUrl}/otlp/v1/traces', headers: { '${keyHeader}': '${secret}' } })
const provider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] })
const span = provider.getTracer('app').startSpan('job', {
  attributes: { 'stint.process': 'first steps', 'stint.meta': 'OpenTelemetry' },
})
try {
  await new Promise((done) => setTimeout(done, 500)) // your code
} catch (error) {
  span.recordException(error)
  span.setStatus({ code: 2 }) // ERROR
  throw error
} finally {
  span.end()
  await provider.shutdown()
}
`,
    },
  ]
}

/** Recipes with address and keys, but for those that `snippets` has by that name. */
export const fillIn = (
  recipes: readonly Snippet[],
  { baseUrl, secret, hostSecret = secret, token = 'YOUR_PING_TOKEN' }: SnippetSettings,
  snippets: readonly Snippet[],
): readonly Snippet[] =>
  recipes
    .filter(({ name }) => !snippets.some((known) => known.name === name))
    .map((recipe) => ({
      ...recipe,
      text: recipe.text
        .replaceAll('ADDRESS', baseUrl)
        .replaceAll(/\bKEY\b/g, hostSecret)
        .replaceAll(/\bTOKEN\b/g, token),
    }))
