// The real process, `bun src/main.ts`, on a free port with a DATA_DIR of its own: started, killed, started again, asked over HTTP.
// It dies with the test run however that ends; its directory is removed by `close`.
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keyHeader, signUpAt } from './caller.ts'
import { closeAtEnd } from './leftovers.ts'
import { takePort } from './ports.ts'
import { inMemoryDir } from './temp-dir.ts'

const MAIN = join(import.meta.dir, '../../src/main.ts')
const READY_WITHIN_MS = 90_000
const LAST_WORDS_MS = 5_000
/** Characters of the log in an error. */
const LOG_SHOWN = 8_000
/** Prints the server's pid, and kills it when our end of the pipe closes, since a killed test run cannot clean up. */
const DIES_WITH_US =
  'exec 3<&0; "$@" <&- & server=$!; echo "pid $server"; { cat <&3; kill -9 $server; } 2>&- & wait $server'

export type Env = Readonly<Record<string, string>>

/** Both stores are servers that never answer: events stay in the spools. */
export const STORES_AWAY: Env = {
  INFLUX_URL: 'http://127.0.0.1:1',
  INFLUX_TOKEN: 'token',
  INFLUX_ORG: 'org',
  INFLUX_BUCKET: 'bucket',
  CLICKHOUSE_URL: 'http://127.0.0.1:1',
}

/** A caller with a key. Both reject when the connection breaks; an answer of any status resolves. */
export interface Caller {
  readonly account: string
  readonly keyId: string
  readonly secret: string
  post(path: string, body: unknown): Promise<Response>
  get(path: string): Promise<Response>
}

export interface ProcessOptions {
  /** Run instead of src/main.ts. */
  readonly entry?: string
  /** Kept by `close`; a fresh one, which is removed, when absent. */
  readonly dataDir?: string
  /** What it prints goes there instead of into `log()`. */
  readonly stdout?: string
}

export type StintProcess = ReturnType<typeof createStintProcess>

/** Not started yet. Of the tests' environment it gets only the paths of programs and temporary files. */
export function createStintProcess(settings: Env = {}, options: ProcessOptions = {}) {
  const dataDir = options.dataDir ?? inMemoryDir()
  const port = takePort()
  const url = `http://127.0.0.1:${port}`
  let child: Bun.Subprocess<'pipe', 'pipe', 'pipe'> | undefined
  let collecting: Promise<unknown> | undefined
  const forget = closeAtEnd(() => end('SIGKILL'))
  let log = ''
  /** Where the log of the process that runs begins. */
  let logFrom = 0

  async function collect(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    for await (const chunk of stream) log += decoder.decode(chunk, { stream: true })
  }

  const findPid = (): number | undefined => {
    const pid = /^pid (\d+)$/m.exec(log.slice(logFrom))?.[1]
    return pid === undefined ? undefined : Number(pid)
  }

  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number> {
    if (!child) return 0
    const pid = findPid()
    if (pid !== undefined && child.exitCode === null) {
      try {
        process.kill(pid, signal)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error // it went by itself
      }
    }
    return ended()
  }

  async function ended(): Promise<number> {
    if (!child) return 0
    const ending = child
    const exitCode = await ending.exited
    if (child === ending) child = undefined
    return exitCode
  }

  async function launch(env: Env = {}): Promise<number> {
    if (child) throw new Error('it is running already')
    const { PATH = '', HOME = '', TMPDIR = tmpdir() } = process.env
    const { entry = MAIN } = options
    logFrom = log.length
    const printing = options.stdout === undefined ? [] : ['/bin/sh', '-c', 'exec "$@" >"$0"', options.stdout]
    child = Bun.spawn(['/bin/sh', '-c', DIES_WITH_US, 'sh', ...printing, process.execPath, entry], {
      env: { PATH, HOME, TMPDIR, PORT: String(port), DATA_DIR: dataDir, UV_THREADPOOL_SIZE: '8', ...settings, ...env },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    child.unref()
    collecting = Promise.all([collect(child.stdout), collect(child.stderr)])
    const deadline = performance.now() + READY_WITHIN_MS
    for (let pid = findPid(); ; pid = findPid()) {
      if (pid !== undefined) return pid
      if (performance.now() > deadline) throw new Error(`no pid within ${READY_WITHIN_MS} ms:\n${log}`)
      await Bun.sleep(1)
    }
  }

  async function untilReady(): Promise<void> {
    const deadline = performance.now() + READY_WITHIN_MS
    while (performance.now() < deadline) {
      if (child?.exitCode !== null) {
        await Promise.race([collecting, Bun.sleep(LAST_WORDS_MS)]) // its last words may be on the way
        throw new Error(`Stint ended with ${child?.exitCode}:\n${log.slice(-LOG_SHOWN)}`)
      }
      const isReady = await fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false, // it does not listen yet
      )
      if (isReady) return
      await Bun.sleep(10)
    }
    throw new Error(`Stint was not ready within ${READY_WITHIN_MS} ms:\n${log.slice(-LOG_SHOWN)}`)
  }

  async function close(): Promise<void> {
    forget()
    await end('SIGKILL')
    if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true })
  }

  return {
    url,
    dataDir,
    /** Starts it and waits only for its pid. */
    launch,
    /** Resolves when /readyz answers 200; rejects with its log when it exits instead. */
    ready: untilReady,
    /** Resolves to its exit code when it has exited for any reason; 128 + n after signal n. */
    ended,
    /** The pid of the running process. Throws when none is running. */
    pid(): number {
      const pid = findPid()
      if (child === undefined || pid === undefined) throw new Error('it does not run')
      return pid
    },
    /** The ms until /readyz answered 200, after a start or restart. Rejects with its log when it exits instead. */
    async start(env: Env = {}): Promise<number> {
      const since = performance.now()
      await launch(env)
      await untilReady()
      return performance.now() - since
    },
    /** kill -9; resolves when it has exited. */
    async kill(): Promise<void> {
      await end('SIGKILL')
    },
    /** SIGTERM; resolves to its exit code. */
    terminate: (): Promise<number> => end('SIGTERM'),
    /** Creates an account over HTTP. */
    async signUp(email: string): Promise<Caller> {
      const { account, keyId, secret } = await signUpAt(url, email)
      return callerOf(url, { account, keyId, secret })
    },
    /** All it printed since the first start. */
    log: (): string => log,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** A caller whose key is known. */
export function callerOf(url: string, who: Pick<Caller, 'account' | 'keyId' | 'secret'>): Caller {
  const auth = keyHeader(who.secret)
  const headers = { ...auth, 'content-type': 'application/json' }
  return {
    ...who,
    post: (path, body) => fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) }),
    get: (path) => fetch(url + path, { headers: auth }),
  }
}
