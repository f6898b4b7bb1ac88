// What `stint exec` is tried with: the real program, a state directory of its own, and servers that answer as a test needs it.
import { afterAll, afterEach } from 'bun:test'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { startReceiver } from '../../support/receiver.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { until } from '../../support/until.ts'

export const MAIN = join(import.meta.dir, '../../../src/cli/main.ts')
export const KEY = 'stint_a-key-that-must-not-be-written-anywhere'

/** All its values are texts, except `failed`. */
export type Body = Record<string, string> & { readonly failed?: never }

export interface Sent {
  readonly path: string
  readonly key: string | null
  readonly body: Body
}

/** Listens like Stint and writes down what comes; `answer` may say what to answer, else it is 201. */
export function recordEvents(
  answer: (sent: Sent, count: number) => Response | undefined | Promise<Response | undefined> = () => undefined,
) {
  const events: Sent[] = []
  const receiver = startReceiver(async ({ path, headers, text }) => {
    const sent: Sent = { path, key: headers.get('x-stint-api-key'), body: JSON.parse(text) }
    events.push(sent)
    return (await answer(sent, events.length)) ?? Response.json({ at: sent.body.at }, { status: 201 })
  })
  const distinct = () => [...new Map(events.map((sent) => [JSON.stringify(sent), sent])).values()]
  return {
    url: receiver.url,
    /** All that came, also what came again. */
    events,
    /** Waits for so many different ones: on a machine that is busy the last are sent after the job. */
    async hears(count: number): Promise<Sent[]> {
      await until(`${count} events`, () => distinct().length >= count)
      return distinct()
    },
    stop: receiver.close,
  }
}

/** Servers and users of single tests, which end with theirs. */
export function usePerTest() {
  const cleanUps: (() => void)[] = []
  afterEach(() => {
    for (const cleanUp of cleanUps.splice(0).reverse()) cleanUp()
  })
  const kept = <T>(made: T, cleanUp: () => void): T => {
    cleanUps.push(cleanUp)
    return made
  }
  return {
    listen(...args: Parameters<typeof recordEvents>) {
      const stint = recordEvents(...args)
      return kept(stint, stint.stop)
    },
    userOf(url: string) {
      const user = createUser(url)
      return kept(user, user.remove)
    },
    /** Accepts and never answers. */
    silence() {
      const silence = listenInSilence()
      return kept(silence, silence.stop)
    },
  }
}

/** A server that takes everything, and a user of it, for all tests of a file. */
export function useJobs() {
  const stint = recordEvents()
  const user = createUser(stint.url)
  afterAll(() => {
    stint.stop()
    user.remove()
  })
  return { stint, user }
}

/** Accepts and never answers. */
function listenInSilence() {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  return { url: `http://127.0.0.1:${listener.port}`, stop: () => listener.stop(true) }
}

/** Nobody listens there. */
export function deadUrl(): string {
  const { url, stop } = listenInSilence()
  stop()
  return url
}

interface Options {
  readonly env?: Record<string, string>
  readonly stdin?: Uint8Array | 'pipe'
  readonly cwd?: string
}

export interface Ended {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: Buffer
  readonly stderr: Buffer
}

export const readAll = async (stream: ReadableStream<Uint8Array>): Promise<Buffer> =>
  Buffer.from(await new Response(stream).arrayBuffer())

/** A user who runs jobs, with one home directory. */
export function createUser(url: string) {
  const home = tempDir('exec')
  const stateDir = join(home, '.local/state/stint')
  const env: Record<string, string> = {
    PATH: process.env.PATH!,
    HOME: home,
    STINT_URL: url,
    STINT_API_KEY: KEY,
  }

  /** Starts `stint …`. */
  const start = (args: readonly string[], options: Options = {}) => spawn([process.execPath, MAIN, ...args], options)
  const spawn = (words: string[], options: Options) =>
    Bun.spawn(words, {
      env: { ...env, ...options.env },
      ...(options.cwd && { cwd: options.cwd }),
      stdin: options.stdin ?? 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })

  const run = (args: readonly string[], options: Options = {}): Promise<Ended> => finish(start(args, options))

  async function finish(child: ReturnType<typeof start>): Promise<Ended> {
    const [stdout, stderr] = await Promise.all([readAll(child.stdout), readAll(child.stderr)])
    await child.exited
    const { exitCode, signalCode } = child
    return { exitCode, signal: signalCode as NodeJS.Signals | null, stdout, stderr }
  }

  const pendingFiles = () => {
    try {
      return readdirSync(stateDir)
        .filter((name) => name.startsWith('pending-'))
        .sort()
    } catch {
      return []
    }
  }

  return {
    home,
    stateDir,
    env,
    start,
    run,
    /** `stint exec -- …` */
    exec: (command: readonly string[], options?: Options) => run(['exec', '--', ...command], options),
    /** A script of bash; `"$0" "$1"` is stint. */
    shell: (script: string, options: Options = {}) =>
      finish(spawn(['bash', '-c', script, process.execPath, MAIN], options)),
    pendingFiles,
    /** Every whole line, in the order of the files. */
    pending: () =>
      pendingFiles().flatMap((name) =>
        readFileSync(join(stateDir, name), 'utf8')
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line) as { kind: string; url: string; body: Record<string, string>; failed?: true })
          .map(({ failed, body, ...event }) => ({ ...event, body: { ...body, ...(failed && { failed }) } as Body })),
      ),
    remove: () => rmSync(home, { recursive: true, force: true }),
  }
}
