// The real service (src/service.ts) in this process, on a free port with a DATA_DIR of its own. Replaced are the clock, the cost of a
// password's hash, the stores (one that waits forever, so that everything accepted stays in the spools) and, where a test says so, the disks
// or any room. A cast of keys is created once for each app.
import { afterAll } from 'bun:test'
import { join } from 'node:path'
import pino from 'pino'
import { readConfig } from '../../src/config.ts'
import type { Destination, Event } from '../../src/event/event.ts'
import { fromRecord } from '../../src/event/record.ts'
import type { Rooms } from '../../src/service/open-rooms.ts'
import { startService } from '../../src/service.ts'
import type { Disk } from '../../src/spool/disk.ts'
import type { Stores } from '../../src/store/open-stores.ts'
import type { Sink } from '../../src/store/sink.ts'
import { type Answer, keyHeader, PASSWORD, readAnswer } from './caller.ts'
import { createMemorySource } from './memory-source.ts'
import { createStepClock, type StepClock } from './step-clock.ts'
import { inMemoryDir } from './temp-dir.ts'

/** The real one would be a third of the time that a start takes. */
const CHEAP = { memoryCost: 64, timeCost: 1 }

export interface AppOptions {
  readonly serviceName?: string
  readonly signup?: 'first' | 'open'
  readonly nodeId?: number
  readonly rateLimit?: number
  /** Number of trusted proxies. */
  readonly trustProxy?: number
  readonly tls?: { readonly certPath: string; readonly keyPath: string }
  readonly seriesMax?: number
  /** More settings, by the names of the environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Limit of each spool. */
  readonly spoolMaxBytes?: number
  /** What the stores hold. */
  readonly stored?: readonly Event[]
  /** Instead of one that stands still. */
  readonly clock?: StepClock
  readonly disk?: Partial<Record<Destination, Disk>>
  /** In place of the stores that wait forever. */
  readonly openStores?: () => Promise<Stores>
  /** Returns the rooms to run with, given the real ones. */
  readonly replace?: (rooms: Rooms) => Rooms
}

export type TestApp = Awaited<ReturnType<typeof startApp>>

export async function startApp(options: AppOptions = {}) {
  const { serviceName = 'stint', disk, replace } = options
  const clock = options.clock ?? createStepClock(Date.now() * 1000)
  const lines: string[] = []
  const log = pino({ level: 'debug', base: null }, { write: (line) => void lines.push(line) })
  const service = await startService(configOf(options), clock, log, {
    hashCost: CHEAP,
    openStores: options.openStores ?? (async () => ({ ...waitingStores, ...createMemorySource(options.stored ?? []) })),
    ...(disk && { disks: disk }),
    ...(replace && { replace }),
  })
  const { url, rooms } = service
  const { account, keys } = await createCast(rooms)

  async function call(path: string, init: RequestInit & { key?: string | undefined } = {}): Promise<Answer> {
    const { key: secret, ...rest } = init
    const headers = new Headers(rest.headers)
    for (const [name, value] of Object.entries(secret === undefined ? {} : keyHeader(secret, serviceName)))
      headers.set(name, value)
    return readAnswer(await fetch(url + path, { redirect: 'manual', ...rest, headers }))
  }

  return {
    url,
    port: Number(new URL(url).port),
    clock,
    account,
    keys,
    rooms,
    spools: rooms.spools,
    /** Every route of the router. */
    routes: service.routes,
    /** The log's lines. */
    log: lines,
    /** Refusals under /v1 as `kind code`, as often as they were counted. */
    async refused(): Promise<string[]> {
      const { values } = await rooms.metrics.refused.get()
      return values.flatMap(({ value, labels }) => Array(value).fill(`${labels.kind} ${labels.reason}`))
    },
    fetch: call,
    /** With the owner's key. `body` is sent as JSON, a string or bytes as they are. */
    post: (path: string, body: unknown, headers: Record<string, string> = {}) =>
      call(path, {
        method: 'POST',
        key: keys.owner,
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body),
      }),
    /** Everything accepted so far, in order, marks and metrics before exceptions. */
    async events(): Promise<Event[]> {
      const { points, exceptions } = rooms.spools
      const batches = [await points.read(1e6, 1e9), await exceptions.read(1e6, 1e9)]
      return batches.flatMap(({ records }) => records.map(fromRecord))
    },
    stop: () => service.stop(),
    [Symbol.asyncDispose]: () => service.stop(),
  }
}

/** For all tests of a file: `const app = await useApp()`. Stopped after the last one. */
export async function useApp(options?: AppOptions): Promise<TestApp> {
  const app = await startApp(options)
  afterAll(() => app.stop())
  return app
}

/** Never contacted: the stores are replaced. Only with InfluxDB is there a limit of series. */
const SOME_INFLUX = { url: 'http://127.0.0.1:9', token: 't', org: 'o', bucket: 'b' }

function configOf({ env, seriesMax, spoolMaxBytes = 64 * 2 ** 20, ...options }: AppOptions) {
  const { stored, openStores, clock, disk, replace, ...settings } = options
  return {
    ...readConfig({ PORT: '0', DATA_DIR: join(inMemoryDir(), 'data'), ...env }),
    ...settings,
    ...(seriesMax !== undefined && { seriesMax, influx: SOME_INFLUX }),
    spoolMaxBytes: 2 * spoolMaxBytes,
  }
}

const waits = async () => ({ kind: 'wait', reason: 'this test keeps its events in the spool' }) as const
const waitingSink: Sink = {
  store: 'memory',
  prepare: waits,
  write: waits,
  check: waits,
  erase: waits,
  close: async () => {},
}
export const waitingStores: Stores = {
  ...createMemorySource([]),
  sinks: { points: waitingSink, exceptions: waitingSink },
  close: async () => {},
}

/** Secrets of keys: `owner` may write and read; `revoked` no longer works. */
async function createCast({ accounts, config }: Rooms) {
  const setupCode = accounts.setupCode()
  const { account, key } = await accounts.create({
    email: 'ada@example.com',
    password: PASSWORD,
    address: config.host,
    ...(setupCode !== undefined && { setupCode }),
  })
  const create = (name: string, scopes: ('write' | 'read')[]) => accounts.keys.create(account.id, name, scopes)
  const revoked = await create('revoked', ['write', 'read'])
  await accounts.keys.revoke(account.id, revoked.id)
  return {
    account: account.id,
    keys: {
      owner: key.secret,
      writer: (await create('writer', ['write'])).secret,
      reader: (await create('reader', ['read'])).secret,
      revoked: revoked.secret,
    },
  }
}
