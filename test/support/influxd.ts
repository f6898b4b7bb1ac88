// One real influxd per test process: started at the first use, on a free port with data of its own, and killed with the
// process however that ends. Each test takes a fresh bucket. Without an installed influxd its tests are skipped and listed.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { findInfluxd, missing } from './needs.ts'
import { takePort } from './ports.ts'
import { tempDir } from './temp-dir.ts'

const STARTUP_MS = 60_000
const DIES_WITH_US =
  'dir=$1; shift; exec 3<&0; "$@" & server=$!; { cat <&3; kill -9 $server; } & wait $server; rm -rf "$dir"'
const ORG = 'stint-tests'
const TOKEN = 'test-token-that-must-never-be-printed'

/** What a client needs to reach a bucket. */
export interface InfluxBucket {
  readonly url: string
  readonly token: string
  readonly org: string
  readonly bucket: string
}

export interface Influxd {
  readonly url: string
  readonly token: string
  readonly org: string
  readonly orgId: string
  /** A bucket that nobody else uses; kept until the server dies. */
  freshBucket(retentionSeconds?: number): Promise<InfluxBucket>
  /** A name that no bucket has. */
  freshName(): string
  /** The server's HTTP API with the operator's token. Rejects unless the answer is 2xx; resolves to its JSON. */
  api(method: string, path: string, body?: unknown): Promise<unknown>
}

const binary = findInfluxd()

/** Why tests against a real InfluxDB cannot run here; undefined when they can. Throws when STINT_TEST_REQUIRE asks for them. */
export const influxdMissing: string | undefined = missing('influxd')

let running: Promise<Influxd> | undefined

/** The server of this process. Only to be called where `influxdMissing` is undefined. */
export function influxd(): Promise<Influxd> {
  running ??= start()
  return running
}

async function start(): Promise<Influxd> {
  if (binary === undefined) throw new Error(influxdMissing)
  const dir = tempDir('influxd')
  const port = takePort()
  const url = `http://127.0.0.1:${port}`
  const args = [
    ['--http-bind-address', `127.0.0.1:${port}`],
    ['--bolt-path', join(dir, 'influxd.bolt')],
    ['--sqlite-path', join(dir, 'influxd.sqlite')],
    ['--engine-path', join(dir, 'engine')],
    ['--log-level', 'error'],
  ].flat()
  // `bun test` emits no 'exit', and a killed process cleans nothing up: the shell sees our end of the pipe close and does it.
  const child = Bun.spawn(['/bin/sh', '-c', DIES_WITH_US, 'sh', dir, binary, ...args, '--reporting-disabled'], {
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  child.unref()

  await untilHealthy(url, child)
  const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Token ${TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
  const setup = { username: 'tests', password: 'tests-only-password', org: ORG, bucket: 'first', token: TOKEN }
  const { org } = (await call('POST', '/api/v2/setup', setup)) as { org: { id: string } }

  let names = 0
  const freshName = () => `bucket-${process.pid}-${++names}`
  return {
    url,
    token: TOKEN,
    org: ORG,
    orgId: org.id,
    freshName,
    api: call,
    async freshBucket(retentionSeconds = 0) {
      const bucket = freshName()
      const retentionRules = retentionSeconds > 0 ? [{ type: 'expire', everySeconds: retentionSeconds }] : []
      await call('POST', '/api/v2/buckets', { name: bucket, orgID: org.id, retentionRules })
      return { url, token: TOKEN, org: ORG, bucket }
    },
  }
}

async function untilHealthy(url: string, child: Bun.Subprocess): Promise<void> {
  const deadline = performance.now() + STARTUP_MS
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`influxd ended with ${child.exitCode} before it was healthy`)
    const health = await fetch(`${url}/health`).then(
      (response) => response.json() as Promise<{ status: string }>,
      () => ({ status: 'away' }), // it does not listen yet
    )
    if (health.status === 'pass') return
    await Bun.sleep(50)
  }
  throw new Error(`influxd was not healthy within ${STARTUP_MS} ms`)
}

/** The pid of influxd itself; the child process is a shell around it. */
export function influxdPid({ url }: Pick<InfluxBucket, 'url'>): number {
  const { host } = new URL(url)
  const isIt = (pid: string) => {
    try {
      return (
        basename(readlinkSync(`/proc/${pid}/exe`)).startsWith('influxd') &&
        readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(host)
      )
    } catch {
      return false // it has ended, or is another user's
    }
  }
  const pid = readdirSync('/proc').find((name) => /^\d+$/.test(name) && isIt(name))
  if (pid === undefined) throw new Error(`no influxd listens on ${host}`)
  return Number(pid)
}
