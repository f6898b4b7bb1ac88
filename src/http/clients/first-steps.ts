// Complete snippets for a first run: the first line installs what the rest needs, from this Stint. All but the ping
// send start and end, report a failure with its exception, and pass it to the caller.
import { FIRST_PING, pingLine, type Snippet } from '../../wire/snippets.ts'

const quoted = (name: string): string => `'${name}'`

/** Secret, header and address need no escaping in these languages: only letters, digits and `_ - : / . [ ]`. */
export function writeFirstSteps(keyHeader: string): readonly Snippet[] {
  const service = /^x-(.+)-api-key$/.exec(keyHeader)?.[1] ?? 'stint'
  const isUsual = service === 'stint'
  const env = `STINT_URL='ADDRESS' STINT_API_KEY='OWN_KEY'${isUsual ? '' : ` STINT_SERVICE='${service}'`}`
  const file = `{"url": "ADDRESS", "api_key": "KEY"${isUsual ? '' : `, "service": "${service}"`}}`
  const install = "curl -fsSo stint.sh 'ADDRESS/clients/stint.sh' && sudo install stint.sh /usr/local/bin/stint"
  return [
    {
      name: 'ping',
      hint:
        'Add one line of curl after a job. It is sent only if the job succeeds. ' +
        'The page of the process is there two seconds later.',
      text: `# nothing to install; put && and this line behind your job
${pingLine('ADDRESS', 'TOKEN', FIRST_PING)}
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
      text: `// to install: curl -fsSO 'ADDRESS/clients/stint.mjs' -O 'ADDRESS/clients/stint.d.mts'
import { createStint } from ${quoted('./stint.mjs')} // in job.mjs

const stint = createStint({ url: 'ADDRESS', key: 'OWN_KEY'${isUsual ? '' : `, service: '${service}'`} })
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
      text: `# to install: curl -fsSO 'ADDRESS/clients/stint.py'
import time
import stint

client = stint.Stint(url="ADDRESS", key="OWN_KEY"${isUsual ? '' : `, service="${service}"`})
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
  printf '${keyHeader}: OWN_KEY' | curl -fsS -m 5 -o /dev/null -H @- -H 'content-type: application/json' \\
    -d "{\\"process\\":\\"first steps\\",\\"meta\\":\\"curl\\"$2}" "ADDRESS/v1/$1"
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

const exporter = new OTLPTraceExporter({ url: 'ADDRESS/otlp/v1/traces', headers: { '${keyHeader}': 'OWN_KEY' } })
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
