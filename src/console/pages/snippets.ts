// Complete snippets for a first run, ready to paste.

export interface SnippetSettings {
  readonly baseUrl: string
  readonly keyHeader: string
  readonly secret: string
}

export interface Snippet {
  readonly name: string
  readonly hint: string
  readonly text: string
}

/** Secret, header and address need no escaping in these languages: they consist of letters, digits and `_ - : / . [ ]`. */
export const writeSnippets = ({ baseUrl, keyHeader, secret }: SnippetSettings): readonly Snippet[] => [
  {
    name: 'stint exec',
    hint: 'Times any command and reports its failure. Needs Bun and this repository, or the binary of bun run build:cli.',
    text: `export STINT_URL='${baseUrl}' STINT_API_KEY='${secret}'
stint exec --process 'first steps' --meta exec -- sleep 0.5
`,
  },
  {
    name: 'curl',
    hint: 'A complete run: start, your command, end. Paste it into a terminal.',
    text: `send() {
  curl -fsS -o /dev/null -X POST "${baseUrl}/v1/$1" \\
    -H 'content-type: application/json' -H '${keyHeader}: ${secret}' -d "$2"
}

send start '{"process":"first steps","meta":"curl"}'
sleep 0.5 # your command
send end '{"process":"first steps","meta":"curl"}'
`,
  },
  {
    name: 'TypeScript',
    hint: 'Node, Bun, Deno or a worker; no package needed.',
    text: `const send = (event: string, body: object) =>
  fetch('${baseUrl}/v1/' + event, {
    method: 'POST',
    headers: { 'content-type': 'application/json', '${keyHeader}': '${secret}' },
    body: JSON.stringify({ process: 'first steps', meta: 'TypeScript', ...body }),
  })

await send('start', {})
try {
  await new Promise((done) => setTimeout(done, 500)) // your code
  await send('metrics', { items: { rows: 42 } })
} catch (error) {
  await send('exception', { exception: String(error instanceof Error ? error.stack : error).slice(0, 15000) })
} finally {
  await send('end', {})
}
`,
  },
  {
    name: 'Python',
    hint: 'Python 3 as it comes.',
    text: `import json, time, traceback, urllib.request

def send(event, **body):
    body = {"process": "first steps", "meta": "Python", **body}
    headers = {"content-type": "application/json", "${keyHeader}": "${secret}"}
    request = urllib.request.Request("${baseUrl}/v1/" + event, json.dumps(body).encode(), headers)
    urllib.request.urlopen(request).close()

send("start")
try:
    time.sleep(0.5)  # your code
    send("metrics", items={"rows": 42})
except Exception:
    send("exception", exception=traceback.format_exc()[:15000])
finally:
    send("end")
`,
  },
]
