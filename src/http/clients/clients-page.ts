// The page of `/clients`: lines to paste, and hashes that prove that the files are those of this version.

import { formatVersion, readVersion } from '../../version.ts'
import type { ServedFile, ServedName } from './served-files.ts'

const UNKNOWN = 'https://stint.example.com'

const code = (text: string) => `<pre><code>${Bun.escapeHTML(text)}</code></pre>`

/** `address`: where Stint is reached; undefined if none is known for sure. */
export function writeClientsPage(address: string | undefined, files: Readonly<Record<ServedName, ServedFile>>): string {
  const base = address ?? UNKNOWN
  const hashes = Object.entries(files)
    .map(([name, { sha256 }]) => `${sha256}  ${name}`)
    .join('\n')
  const warnings = [
    address === undefined &&
      `The address in these lines is an example: replace it with the one that reaches this Stint. Its operator can set
       <code>PUBLIC_URL</code> or <code>ALLOWED_HOSTS</code>, so that it stands here.`,
    base.startsWith('http:') &&
      `This Stint is reached over plain http: anybody on the way can change the files and this page. Outside of a
       network that you trust, compare the hashes with those of a Stint or a clone of the same version that you trust.`,
  ].filter((text) => text !== false)
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Clients · Stint</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><style>
body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:5vh auto;padding:0 1rem}
pre{overflow-x:auto;padding:.8rem 1rem;border:1px solid #8885;border-radius:6px;font-size:14px}
.warning{border-left:4px solid #c0392b;padding-left:1rem}
</style><main><h1>Clients of Stint ${Bun.escapeHTML(formatVersion(readVersion()))}</h1>
<p>Each is one file without dependencies, and of the version of this server. They need the address of Stint and a key
with the scope <code>write</code>, which the console creates under <i>Keys</i>.</p>
${warnings.map((text) => `<p class="warning" role="note">${text}</p>`).join('\n')}
<h2>Shell: cron, CI, scripts</h2>
<p>A POSIX shell with curl or wget. <code>stint exec</code> runs a command and times it; output, signals and exit code
pass.</p>
${code(`curl -fsSo stint.sh ${base}/clients/stint.sh && sudo install stint.sh /usr/local/bin/stint
export STINT_URL=${base} STINT_API_KEY=…
stint exec --process "nightly import" -- sleep 1`)}
<h2>Python 3.9 or later</h2>
${code(`curl -fsSO ${base}/clients/stint.py
STINT_URL=${base} STINT_API_KEY=… python3 - <<'END'
import stint
with stint.run("nightly import") as run:
    run.metrics({"rows": 42})
END`)}
<h2>Node 20 or later, Bun, Deno 2</h2>
${code(`curl -fsSO ${base}/clients/stint.mjs -O ${base}/clients/stint.d.mts
cat >job.mjs <<'END'
import { metrics, run } from './stint.mjs'
await run('nightly import', async () => metrics({ rows: 42 }))
END
STINT_URL=${base} STINT_API_KEY=… node job.mjs`)}
<h2>Nothing to install</h2>
<p>A ping address takes a GET or POST of any program; its token is a key with the scope <code>ping</code>.</p>
${code(`curl -fsS -m 10 --retry 5 "${base}/ping/$TOKEN/nightly-import"`)}
<p>Every other language can use <a href="swagger">the HTTP API</a>. The full command line (<code>stint watch</code>,
<code>stint timings</code> …) is in the repository: <code>bun run build:cli</code>.</p>
<h2>SHA-256</h2>
<p>Save these lines as <code>SHA256SUMS</code> beside the files; <code>sha256sum -c --ignore-missing SHA256SUMS</code>
checks them.</p>
${code(hashes)}
</main></html>
`
}
