// The app on a real socket with real spools and real accounts in a directory of its own; only time and, where a test says so, the disk
// are the test's. A cast of keys is made once for each app.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { openAccounts } from '../../src/account/accounts.ts'
import { createConsole } from '../../src/console/bundle-console.ts'
import { CONSOLE_POLICY } from '../../src/console/shell-page.ts'
import type { Destination, Event } from '../../src/event/event.ts'
import { fromRecord } from '../../src/event/record.ts'
import { createStampClock } from '../../src/event/stamp-clock.ts'
import { hasLoopbackHost } from '../../src/http/accounts/own-host.ts'
import { createFindSession } from '../../src/http/accounts/session-cookie.ts'
import { createApp } from '../../src/http/app.ts'
import { clientAddress } from '../../src/http/client-address.ts'
import type { IntakeDeps } from '../../src/http/intake/accept-event.ts'
import { createLimitBadKeys } from '../../src/http/intake/bad-keys.ts'
import { createRateLimit } from '../../src/http/intake/rate-limit.ts'
import { type Listener, listen } from '../../src/http/listen.ts'
import type { DeadLetterRoutesDeps } from '../../src/http/questions/dead-letter-routes.ts'
import { Problem } from '../../src/problem.ts'
import { createQuestions } from '../../src/query/questions.ts'
import type { Disk } from '../../src/spool/disk.ts'
import { openSpool, type Spool } from '../../src/spool/spool.ts'
import { openGivenStamps } from '../../src/state/given-stamps.ts'
import { createMemorySource } from './memory-source.ts'
import { createStepClock, type StepClock } from './step-clock.ts'

const DAY_US = 86_400_000_000
const IDLE = { store: 'memory', state: 'idle', sinceUs: 0 }

export interface AppOptions {
  readonly serviceName?: string
  readonly signup?: 'first' | 'open'
  readonly nodeId?: number
  /** Requests a second for each key. */
  readonly rateLimit?: number
  /** Proxies that are believed. */
  readonly trustProxy?: number
  readonly tls?: { readonly certPath: string; readonly keyPath: string }
  readonly seriesMax?: number
  /** Of each spool. */
  readonly spoolMaxBytes?: number
  readonly minFreeBytes?: number
  readonly disk?: Partial<Record<Destination, Disk>>
  readonly intake?: Partial<IntakeDeps>
  readonly dead?: Partial<DeadLetterRoutesDeps['dead']>
  readonly port?: number
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever JSON came; the tests say what it must be
  readonly json: any
}

export interface TestApp {
  readonly url: string
  readonly port: number
  readonly clock: StepClock
  readonly account: string
  /** Secrets. `owner` may write and read; `revoked` could. */
  readonly keys: Readonly<Record<'owner' | 'writer' | 'reader' | 'revoked', string>>
  readonly spools: Readonly<Record<Destination, Spool>>
  /** Every route there is, as the router has it. */
  readonly routes: readonly { readonly method: string; readonly path: string }[]
  /** What was refused under /v1, by kind and code. */
  readonly refused: string[]
  /** What the log holds, a line each. */
  readonly log: string[]
  fetch(path: string, init?: RequestInit & { key?: string | undefined }): Promise<Answer>
  /** With the owner's key. `body` is sent as JSON, a string or bytes as they are. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Everything accepted so far, in order, marks and metrics before exceptions. */
  events(): Promise<Event[]>
  stop(): Promise<void>
}

export async function startApp(options: AppOptions = {}): Promise<TestApp> {
  const dir = mkdtempSync(join(tmpdir(), 'stint-app-'))
  const clock = createStepClock(Date.now() * 1000)
  const lines: string[] = []
  const log = pino({ level: 'debug', base: null }, { write: (line) => void lines.push(line) })
  const accounts = openAccounts({
    path: join(dir, 'accounts.sqlite'),
    clock,
    log,
    signup: options.signup ?? 'first',
    seriesMax: options.seriesMax ?? 0,
  })
  const { account, key } = await accounts.create({
    email: 'ada@example.com',
    password: 'a long enough password of a test',
    address: '127.0.0.1',
  })
  const revoked = accounts.keys.create(account.id, 'revoked', ['write', 'read'])
  accounts.keys.revoke(account.id, revoked.id)
  const keys = {
    owner: key.secret,
    writer: accounts.keys.create(account.id, 'writer', ['write']).secret,
    reader: accounts.keys.create(account.id, 'reader', ['read']).secret,
    revoked: revoked.secret,
  }

  const open = (destination: Destination) =>
    openSpool({
      dir: join(dir, 'spool', destination),
      maxBytes: options.spoolMaxBytes ?? 64 * 2 ** 20,
      minFreeBytes: options.minFreeBytes ?? 0,
      log,
      ...(options.disk?.[destination] && { disk: options.disk[destination] }),
    })
  const spools = { points: await open('points'), exceptions: await open('exceptions') }
  const givenStamps = openGivenStamps({ path: join(dir, 'given.sqlite'), keepUs: 8 * DAY_US, clock, log })
  const nodeId = options.nodeId ?? 0
  const stampClock = createStampClock(clock, nodeId, 0)
  const keyHeader = `x-${options.serviceName ?? 'stint'}-api-key`
  const keyInvalid = new Problem('key_invalid', `Send a valid API key in the header ${keyHeader}.`)
  const nowNs = () => BigInt(stampClock.nowUs()) * 1000n
  const refused: string[] = []
  const { rateLimit = 0, trustProxy = 0, tls } = options
  let listener: Listener | undefined
  const addressOf = (request: Request) => clientAddress(request, listener?.peerOf(request), trustProxy)
  const app = createApp({
    log,
    keyHeader,
    keyInvalid,
    findKey: accounts.findKey,
    findSession: createFindSession(accounts.sessions.find),
    ...(rateLimit > 0 && { limitBadKeys: createLimitBadKeys(clock, addressOf) }),
    hasTls: tls !== undefined,
    gate: {
      keyHeader,
      keyInvalid,
      findKey: accounts.findKey,
      rateLimit: createRateLimit(clock, rateLimit),
      refusal: (destination) => spools[destination].refusal(),
      stamp: stampClock.next,
    },
    intake: {
      spools,
      givenStamps,
      ownTimeSub: 2 * nodeId + 1,
      maxAgeUs: 7 * DAY_US,
      wallUs: clock.wallUs,
      admitSeries: (event) =>
        accounts.series.admit(
          event.account,
          event.process,
          event.meta,
          event.kind === 'metrics' ? event.items.map(([name]) => name) : undefined,
        ),
      seriesNoted: accounts.series.noted,
      countAccepted() {},
      ...options.intake,
    },
    countRefused: (kind, reason) => void refused.push(`${kind} ${reason}`),
    accounts: {
      accounts,
      addressOf,
      isOwnHost: trustProxy === 0 ? hasLoopbackHost : () => true,
      isSecure: () => tls !== undefined,
      onDeleted() {},
    },
    questions: createQuestions({
      ...createMemorySource([]),
      nowNs,
      maxRunNs: BigInt(DAY_US) * 1000n,
      maxMarks: 1_000_000,
      series: accounts.series.use,
    }),
    dead: { list: () => [], remove: () => false, replay: async () => false, ...options.dead },
    health: {
      spools: () => ({ points: spools.points.stats(), exceptions: spools.exceptions.stats() }),
      destinations: () => ({ points: IDLE, exceptions: IDLE }),
      countDead: () => 0,
      countAllDead: () => 0,
      isOperator: (id) => accounts.get(id)?.operator === true,
      nowUs: stampClock.nowUs,
    },
    console: createConsole(keyHeader),
    consolePolicy: CONSOLE_POLICY,
    nowNs,
    unready: () => undefined,
    renderMetrics: async () => 'stint_events_accepted_total{kind="start"} 1\n',
  })
  const listening = listen(app, { host: '127.0.0.1', port: options.port ?? 0, tls, log })
  listener = listening
  const { url } = listening

  async function call(path: string, init: RequestInit & { key?: string | undefined } = {}): Promise<Answer> {
    const { key: secret, ...rest } = init
    const headers = new Headers(rest.headers)
    if (secret !== undefined) headers.set(keyHeader, secret)
    const response = await fetch(url + path, { redirect: 'manual', ...rest, headers })
    const text = await response.text()
    const isJson = /^application\/(problem\+)?json$/.test(response.headers.get('content-type') ?? '')
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson && text ? JSON.parse(text) : undefined,
    }
  }

  return {
    url,
    port: Number(new URL(url).port),
    clock,
    account: account.id,
    keys,
    spools,
    routes: app.routes.map(({ method, path }) => ({ method, path })),
    refused,
    log: lines,
    fetch: call,
    post: (path, body, headers = {}) =>
      call(path, {
        method: 'POST',
        key: keys.owner,
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body),
      }),
    async events() {
      const batches = [await spools.points.read(1e6, 1e9), await spools.exceptions.read(1e6, 1e9)]
      return batches.flatMap(({ records }) => records.map(fromRecord))
    },
    async stop() {
      await listening.stop()
      await Promise.all([spools.points.close(), spools.exceptions.close()])
      givenStamps.close()
      accounts.close()
      rmSync(dir, { recursive: true })
    },
  }
}
