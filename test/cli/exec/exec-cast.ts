// What `stint exec` is tried with: the real program, a state directory of its own, and servers that answer as a test needs it.
import { afterAll, afterEach } from 'bun:test'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { startRealStint } from '../../support/real-stint.ts'
import { startReceiver } from '../../support/receiver.ts'
import { inMemoryDir, tempDir } from '../../support/temp-dir.ts'
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

type Judge = (sent: Sent, count: number) => Response | undefined | Promise<Response | undefined>

/**
 * For answers that a real Stint gives only in trouble: writes down each event that comes; `answer` may say what to answer
 * to it, else it counts as stored. That something arrived is asserted at a real Stint.
 */
export function recordEvents(answer: Judge = () => undefined) {
  const events: Sent[] = []
  const receiver = startReceiver(async ({ path, headers, text }) => {
    if (path !== '/v1/batch') return new Response(null, { status: 404 })
    const key = headers.get('x-stint-api-key')
    const judged: (Response | undefined)[] = []
    for (const { kind, ...body } of JSON.parse(text)) {
      const sent: Sent = { path: `/v1/${kind}`, key, body }
      events.push(sent)
      judged.push(await answer(sent, events.length))
    }
    return answerBatch(judged)
  })
  const distinct = () => [...new Map(events.map((sent) => [JSON.stringify(sent), sent])).values()]
  return {
    url: receiver.url,
    /** All that came, also what came again. */
    events,
    requests: receiver.requests,
    /** Waits for so many different ones. */
    async hears(count: number): Promise<Sent[]> {
      await until(`${count} events`, () => distinct().length >= count)
      return distinct()
    },
    stop: receiver.close,
  }
}

/** As Stint answers a batch: 201, the problem if all have one, else 207 with the problem of each. */
async function answerBatch(judged: readonly (Response | undefined)[]): Promise<Response> {
  const first = judged.find((one) => one !== undefined)
  if (first === undefined) return Response.json({ accepted: judged.length, refused: 0, items: [] }, { status: 201 })
  if (first.status !== 422) return first
  const items = await Promise.all(
    judged.map(async (one, i) => {
      const { errors = [], ...problem } = (await one?.json()) ?? {}
      const named = errors.map(({ pointer, ...rest }: { pointer: string }) => ({ pointer: `/${i}${pointer}`, ...rest }))
      return one === undefined ? { at: '' } : { status: one.status, ...problem, errors: named }
    }),
  )
  if (judged.includes(undefined)) return Response.json({ items }, { status: 207 })
  return Response.json({ ...items[0], errors: items.flatMap(({ errors }) => errors) }, { status: 422 })
}

/** Servers and users of single tests, which end with theirs. */
export function usePerTest() {
  const cleanUps: (() => unknown)[] = []
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  })
  const kept = <T>(made: T, cleanUp: () => unknown): T => {
    cleanUps.push(cleanUp)
    return made
  }
  return {
    listen(...args: Parameters<typeof recordEvents>) {
      const stint = recordEvents(...args)
      return kept(stint, stint.stop)
    },
    /** A real Stint: it says what has arrived. */
    async open() {
      const stint = await startRealStint()
      return kept(stint, stint.stop)
    },
    userOf(url: string, key?: string) {
      const user = createUser(url, inMemoryDir(), key)
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

/** A user who runs jobs, with one home directory. In memory no program may be in it. */
export function createUser(url: string, home = tempDir('exec'), key = KEY) {
  const stateDir = join(home, '.local/state/stint')
  const env: Record<string, string> = {
    PATH: process.env.PATH!,
    HOME: home,
    TMPDIR: home,
    STINT_URL: url,
    STINT_API_KEY: key,
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

  /** Below the directory, the oldest first. */
  const pendingFiles = () => (existsSync(stateDir) ? [...new Glob('*/*.json').scanSync(stateDir)].sort() : [])

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
    /** Every event, in the order of the files. */
    pending: () =>
      pendingFiles().flatMap((name) =>
        (JSON.parse(readFileSync(join(stateDir, name), 'utf8')) as ({ kind: string } & Body)[]).map(
          ({ kind, ...body }) => ({ kind, body: body as unknown as Body }),
        ),
      ),
    remove: () => rmSync(home, { recursive: true, force: true }),
  }
}
