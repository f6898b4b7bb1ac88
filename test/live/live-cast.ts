// Live over real spools and a store in memory, with a clock that the test sets: what was sent waits in the spool until
// the test ships it.
import { afterEach } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { type Both, DESTINATIONS, destinationOf, type Event } from '../../src/event/event.ts'
import { fromRecord, toRecord } from '../../src/event/record.ts'
import type { Stamp } from '../../src/event/stamp.ts'
import { createLive, type Live, type LiveOptions } from '../../src/live/live.ts'
import { NO_OTHERS, type OtherNodes } from '../../src/live/other-nodes.ts'
import type { GroupDecision } from '../../src/live/overview/board.ts'
import type { Watched } from '../../src/live/overview/covering.ts'
import { createMedians } from '../../src/live/overview/medians.ts'
import { type AskOverview, createOverview } from '../../src/live/overview/overview.ts'
import type { TailSpool } from '../../src/live/tail.ts'
import { ask } from '../../src/query/desk.ts'
import { openSpool } from '../../src/spool/open-spool.ts'
import type { Spool, Tail } from '../../src/spool/spool.ts'
import { type ExceptionSource, type PointSource, StoreError } from '../../src/store/source.ts'
import { createMemorySource } from '../support/memory-source.ts'

const NOTHING_WATCHED: Watched = { alerts: [], watches: [], unjudged: 0, failingChannels: 0 }
const silent = pino({ level: 'silent' })

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
export const T0 = Date.UTC(2026, 10, 26, 12)

export interface Cast {
  nowMs: number
  readonly events: Event[]
  /** Their records. */
  readonly shipped: Set<string>
  readonly dir: string
  /** The stores do not answer. */
  isAway: boolean
  /** The stores answer once it resolves. */
  answers: Promise<void>
  /** Questions that the stores were asked. */
  reads: string[]
  watched: Watched
  heldUntilUs: (process: string, us: number) => number | undefined
  decisions: GroupDecision[]
  readonly live: Live
  readonly overview: AskOverview
  readonly spools: Both<Spool>
  ask(search?: string, account?: string): ReturnType<AskOverview>
  /** Accepted: in the log, and not in its store yet. */
  send(...events: Event[]): Promise<void>
  /** Delivers what waits. */
  ship(records?: number): Promise<void>
  /** Waits until an answer meets it. */
  until(check: (overview: Awaited<ReturnType<AskOverview>>) => boolean, search?: string): Promise<void>
  /** What it knew is gone; its directory stays. */
  kill(): Promise<void>
  close(): Promise<void>
}

const opened: Cast[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

interface CastOptions extends Partial<Pick<LiveOptions, 'maxBytes' | 'maxMarks' | 'receivingUs' | 'lookMs'>> {
  readonly others?: OtherNodes
  /** Live reads on in the log once it resolves. */
  beforeRead?(): Promise<void>
  /** That of another cast, which was killed. */
  readonly dir?: string
  /** Those of another cast, with the same stores. */
  readonly stored?: Pick<Cast, 'events' | 'shipped'>
}

export async function openCast(options: CastOptions = {}): Promise<Cast> {
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'live-')))
  const open = (name: string) =>
    openSpool({ dir: join(dir, name), maxBytes: 2 ** 26, minFreeBytes: 0, log: silent, segmentBytes: 512 * 1024 })
  const spools = { points: await open('points'), exceptions: await open('exceptions') }
  const { events, shipped } = options.stored ?? { events: [] as Event[], shipped: new Set<string>() }
  const memory = createMemorySource(events)
  const nowUs = () => cast.nowMs * 1000
  const watchSource = <T extends PointSource | ExceptionSource>(source: T): T =>
    new Proxy(source, {
      get(target, name, receiver) {
        const find = Reflect.get(target, name, receiver)
        if (typeof find !== 'function') return find
        return async (...given: unknown[]) => {
          cast.reads.push(String(name))
          await cast.answers
          if (cast.isAway) throw new StoreError('away')
          return Reflect.apply(find, target, given)
        }
      },
    })
  const delayed = (spool: Spool): TailSpool => ({
    get position() {
      return spool.position
    },
    mark: spool.mark,
    writingUs: spool.writingUs,
    stats: () => spool.stats(),
    tail(from, keeps) {
      const tail = spool.tail(from, keeps)
      const read: Tail['read'] = async (...asked) => {
        await options.beforeRead?.()
        return tail.read(...asked)
      }
      return Object.create(tail, { read: { value: read } })
    },
  })
  const points = watchSource(memory.points)
  const exceptions = watchSource(memory.exceptions)
  const inTurn = <T>(_: string, work: (signal: AbortSignal) => Promise<T>) => ask(work(new AbortController().signal))
  const common = { inTurn, log: silent, maxRunUs: DAY * 1000, nowUs }
  const live = createLive({
    ...{ ...common, sources: { points, exceptions }, others: options.others ?? NO_OTHERS },
    spools: { points: delayed(spools.points), exceptions: delayed(spools.exceptions) },
    receivingUs: options.receivingUs ?? (() => undefined),
    observe: () => {},
    onForget: (account) => overview.drop(account),
    ...(options.lookMs !== undefined && { lookMs: options.lookMs }),
    ...{ maxMarks: options.maxMarks ?? 1e9, maxBytes: options.maxBytes ?? 2 ** 26 },
  })
  const overview = createOverview({
    ...{ ...common, live, medians: createMedians({ ...common, points }) },
    watched: async (account) => (account === 'ada' ? cast.watched : NOTHING_WATCHED),
    decisions: async () => cast.decisions,
    note: async () => ({ note: null, note_by: null, note_at: null }),
    held: async () => cast.heldUntilUs,
  })
  let isClosed = false
  const cast: Cast = {
    ...{
      nowMs: T0,
      events,
      shipped,
      dir,
      isAway: false,
      answers: Promise.resolve(),
      reads: [],
      decisions: [],
      live,
      overview,
      spools,
    },
    watched: NOTHING_WATCHED,
    heldUntilUs: () => undefined,
    ask: (search = '', account = 'ada') => overview(account, new URLSearchParams(search)),
    async send(...sent) {
      for (const event of sent) await spools[destinationOf(event.kind)].append(toRecord(event), nowUs())
    },
    async ship(records = 1e6) {
      for (const destination of DESTINATIONS) {
        const batch = await spools[destination].read(records, 2 ** 26)
        for (const record of batch.records) {
          if (!shipped.has(record)) events.push(fromRecord(record))
          shipped.add(record) // a store keeps an event once
        }
        await spools[destination].advance(batch.next)
      }
    },
    async until(check, search) {
      for (;;) {
        if (check(await cast.ask(search))) return
        await new Promise((done) => setTimeout(done, 5))
      }
    },
    async kill() {
      if (isClosed) return
      isClosed = true
      await live.close()
      for (const spool of Object.values(spools)) await spool.close()
    },
    async close() {
      await cast.kill()
      await rm(dir, { recursive: true, force: true })
    },
  }
  opened.push(cast)
  return cast
}

interface Of {
  readonly process?: string
  readonly meta?: string
  readonly failed?: boolean
  readonly account?: string
  readonly uid?: string
}

/** Times have a stamp of their own each. */
let sub = 0
function stampAt(ms: number): Stamp {
  sub = (sub + 2) % 1000
  return { us: Math.round(ms * 1000), sub }
}
const base = (ms: number, { process = 'job', meta = '', account = 'ada' }: Of) => ({
  ...{ account, process, meta, stamp: stampAt(ms) },
})

export const startAt = (ms: number, of: Of = {}): Event => ({ ...base(ms, of), kind: 'start', uid: of.uid ?? '' })
export const endAt = (ms: number, of: Of = {}): Event => ({
  ...{ ...base(ms, of), kind: 'end', uid: of.uid ?? '' },
  ...(of.failed && { failed: true }),
})
export const runAt = (ms: number, tookMs: number | undefined, of: Of = {}): Event[] => {
  const own = { uid: `u${ms}`, ...of }
  return [startAt(ms, own), ...(tookMs === undefined ? [] : [endAt(ms + tookMs, own)])]
}
export const raiseAt = (ms: number, exception = 'Error: x\n  at y', of: Of = {}): Event => ({
  ...{ ...base(ms, of), kind: 'exception', exception },
  ...(of.uid && { uid: of.uid }),
})
