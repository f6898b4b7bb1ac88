// The real process, `bun src/main.ts`, on a free port with a DATA_DIR of its own: started, killed, started again, asked over HTTP.
// It dies with the test run however that ends; its directory is removed by `close`.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MAIN = join(import.meta.dir, '../../src/main.ts')
const READY_WITHIN_MS = 30_000
/** Tells the server's pid, and kills it when our end of the pipe closes: a killed test run cleans nothing up itself. */
const DIES_WITH_US =
  'exec 3<&0; "$@" <&- & server=$!; echo "pid $server"; { cat <&3; kill -9 $server; } 2>&- & wait $server'

export type Env = Readonly<Record<string, string>>

/** Somebody with a key. Both reject when the connection breaks; an answer of any status resolves. */
export interface Caller {
  readonly account: string
  readonly secret: string
  post(path: string, body: unknown): Promise<Response>
  get(path: string): Promise<Response>
}

export interface StintProcess {
  readonly url: string
  readonly dataDir: string
  /** Starts it, again after an end, and resolves to the ms until /readyz said yes. Rejects with its log when it ends instead. */
  start(env?: Env): Promise<number>
  /** kill -9; resolves when it is gone. */
  kill(): Promise<void>
  /** SIGTERM; resolves to its exit code. */
  terminate(): Promise<number>
  /** Makes an account over HTTP. */
  signUp(email: string): Promise<Caller>
  /** All it printed since the first start. */
  log(): string
  close(): Promise<void>
}

/** Not started yet. Nothing of the tests' own environment reaches it but where programs and temporary files are. */
export function createStintProcess(settings: Env = {}): StintProcess {
  const dataDir = mkdtempSync(join(tmpdir(), 'stint-process-'))
  const port = freePort()
  const url = `http://127.0.0.1:${port}`
  let child: Bun.Subprocess<'pipe', 'pipe', 'pipe'> | undefined
  let log = ''

  async function collect(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    for await (const chunk of stream) log += decoder.decode(chunk, { stream: true })
  }

  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number> {
    if (!child) return 0
    const ending = child
    const pid = [...log.matchAll(/^pid (\d+)$/gm)].at(-1)?.[1]
    if (pid !== undefined && ending.exitCode === null) process.kill(Number(pid), signal)
    const exitCode = await ending.exited
    child = undefined
    return exitCode
  }

  async function untilReady(): Promise<void> {
    const deadline = performance.now() + READY_WITHIN_MS
    while (performance.now() < deadline) {
      if (child!.exitCode !== null) throw new Error(`Stint ended with ${child!.exitCode}:\n${log}`)
      const isReady = await fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false, // it does not listen yet
      )
      if (isReady) return
      await Bun.sleep(10)
    }
    throw new Error(`Stint was not ready within ${READY_WITHIN_MS} ms:\n${log}`)
  }

  return {
    url,
    dataDir,
    async start(env = {}) {
      if (child) throw new Error('it is running already')
      const since = performance.now()
      const { PATH = '', HOME = '', TMPDIR = tmpdir() } = process.env
      child = Bun.spawn(['/bin/sh', '-c', DIES_WITH_US, 'sh', process.execPath, MAIN], {
        env: { PATH, HOME, TMPDIR, PORT: String(port), DATA_DIR: dataDir, ...settings, ...env },
        stdin: 'pipe',
        stdout: 'pipe',
        stderr: 'pipe',
      })
      child.unref()
      void collect(child.stdout)
      void collect(child.stderr)
      await untilReady()
      return performance.now() - since
    },
    async kill() {
      await end('SIGKILL')
    },
    terminate: () => end('SIGTERM'),
    async signUp(email) {
      const response = await fetch(`${url}/api/accounts`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email, password: 'a long enough password of a test' }),
      })
      if (response.status !== 201) throw new Error(`no account: ${response.status} ${await response.text()}`)
      const { account, key } = (await response.json()) as { account: { id: string }; key: { secret: string } }
      const auth = { 'x-stint-api-key': key.secret }
      return {
        account: account.id,
        secret: key.secret,
        post: (path, body) =>
          fetch(url + path, {
            method: 'POST',
            headers: { ...auth, 'content-type': 'application/json' },
            body: JSON.stringify(body),
          }),
        get: (path) => fetch(url + path, { headers: auth }),
      }
    },
    log: () => log,
    async close() {
      await end('SIGKILL')
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

function freePort(): number {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = probe
  probe.stop(true)
  return port
}
