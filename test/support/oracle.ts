// What was sent and what was acknowledged, kept outside the process; and whether the stores hold exactly that: every acknowledged event
// once and as it was sent, each other one at most once, and nothing that was never sent. Every event carries a number that is its own,
// from which all of it follows: what a row must look like is computed, never remembered.
import type { DeadLetter } from '../../src/wire/dead-letters.ts'
import type { ExceptionText } from '../../src/wire/exceptions.ts'
import type { MetricPoint } from '../../src/wire/metrics.ts'
import type { OutputText } from '../../src/wire/outputs.ts'
import type { Timing } from '../../src/wire/timings.ts'
import type { Caller } from './process.ts'

type Kind = 'start' | 'end' | 'metrics' | 'exception' | 'output'

interface Sent {
  readonly kind: Kind
  readonly id: number
  /** The time it brought along. */
  readonly own: string | undefined
  /** The store refuses it: it must be in the dead letters, and not be stored. */
  readonly isPoison: boolean
  readonly hasOutput: boolean
  /** The stamp of the 201; absent when it was refused or its answer never came. */
  at: string | undefined
  /** A request with it broke off, or a backup from before its 201 was restored: it may be stored or not. */
  inDoubt: boolean
  /** It was refused, and its answer said that its output was stored: a row of that alone is no foreign one. */
  isOutputThere: boolean
}

/** All that the API answers an account. */
export interface Stored {
  readonly timings: readonly Timing[]
  readonly points: readonly MetricPoint[]
  readonly exceptions: readonly ExceptionText[]
  readonly outputs: readonly OutputText[]
  readonly dead: readonly DeadLetter[]
}

/** What the stores hold too little, too much, or not as it was sent; an example of each in words. */
export interface Findings {
  readonly lost: number
  readonly twice: number
  readonly foreign: number
  readonly altered: number
  readonly examples: readonly string[]
}

export const NOTHING_FOUND: Findings = { lost: 0, twice: 0, foreign: 0, altered: 0, examples: [] }

export type Oracle = ReturnType<typeof createOracle>

/** Holds all events that were acknowledged by then. */
export type Snapshot = ReadonlySet<object>

const PRECISIONS = ['s', 'ms', 'µs'] as const
type Precision = (typeof PRECISIONS)[number]

/** Of the events that a store is made to refuse. */
export const POISON_PROCESS = 'poison'

/** A range that holds all that a test sends. */
export const WIDE = 'from=-3h&to=2100-01-01T00:00:00Z'

/** Of one event: its stamp, or why it was not taken. */
type ItemAnswer = { readonly at: string } | Refused
type Refused = { readonly at?: undefined; readonly status: number; readonly detail?: string }

const AWAY_MS = 50
const RETRIES_AT_ONCE = 16
const SECOND_NAME = 'läng e=1,2'
const LONG_EXCEPTION = 14_000
const EXAMPLES_MAX = 5

const processOf = (id: number): string => `job ${id % 3}`
/** As it is read; it is sent with characters that Stint strips. */
const metaOf = (id: number): string | null => (id % 2 === 0 ? `meta  ${id % 4}` : null)
const exceptionOf = (id: number): string =>
  `boom ${id}\n\t"at" \\ 'x' 😀${id % 16 === 0 ? `\nline ${id % 7}`.repeat(LONG_EXCEPTION / 8) : ''}`
const saysSomething = ({ kind, hasOutput }: Sent): boolean => kind === 'end' && hasOutput
const outputOf = (id: number): string => `done ${id}\n\t"so" \\ 'y' 😀`
const secondValueOf = (id: number): number => Math.sin(id) * 10 ** ((id % 40) - 20)
const uidOf = (id: number): string => `run-${id}`
/** Of the times that its run brings along; undefined where the run is stamped at arrival. */
const precisionOf = (id: number): Precision | undefined => ((id >> 1) % 2 === 1 ? PRECISIONS[(id >> 2) % 3] : undefined)

function bodyOf(sent: Sent): object {
  const { kind, id, own, isPoison } = sent
  const common = {
    process: isPoison ? POISON_PROCESS : processOf(id),
    ...(id % 2 === 0 && { meta: `m"e't%a % ${id % 4}` }),
    ...(own !== undefined && { at: own }),
  }
  if (kind === 'metrics') return { ...common, items: { value: id, [SECOND_NAME]: secondValueOf(id) } }
  if (kind === 'exception') return { ...common, exception: exceptionOf(id) }
  return { ...common, uid: uidOf(id), ...(saysSomething(sent) && { output: outputOf(id) }) }
}

export interface OracleOptions {
  /** Where events of their own time lie: within the minute before it. */
  nowMs?(): number
  /** Every so many runs bring an event that the store is made to refuse; 0 = none does. */
  readonly poisonEvery?: number
}

export function createOracle({ nowMs = Date.now, poisonEvery = 0 }: OracleOptions = {}) {
  const sent: Sent[] = []
  const refused = new Map<number, number>()
  const counts = { acknowledged: 0, withoutRetryAfter: 0, again: 0 }
  let nextId = 0

  function begin(kind: Kind, id: number, own?: string, isPoison = false): Sent {
    const hasOutput = id % 3 === 0 && !isPoison
    const one: Sent = { kind, id, own, isPoison, hasOutput, at: undefined, inDoubt: false, isOutputThere: false }
    sent.push(one)
    return one
  }

  function acknowledge(one: Sent, at: string): void {
    if (one.at === undefined) counts.acknowledged++
    else if (one.at !== at) throw new Error(`${one.kind} ${one.id} had the time ${one.at}, and again sent ${at}`)
    else counts.again++
    if (one.own !== undefined && one.own.slice(0, -1) !== at.slice(0, one.own.length - 1))
      throw new Error(`${one.kind} ${one.id} brought the time ${one.own} and got ${at}`)
    one.at = at
    one.inDoubt = false
  }

  function refuse(status: number, events: readonly Sent[]): void {
    refused.set(status, (refused.get(status) ?? 0) + 1)
    // A disk that failed may have kept it all the same; every other refusal is a promise that it is not there.
    if (status >= 500 && status !== 503) for (const one of events) one.inDoubt = true
  }

  const noteOutput = (one: Sent, { detail = '' }: Refused) => {
    if (saysSomething(one) && /\bthe output was stored\b/i.test(detail)) one.isOutputThere = true
  }

  /** Resolves to the status; undefined when no answer came. */
  async function post(
    caller: Caller,
    path: string,
    body: unknown,
    events: readonly Sent[],
    read: (text: string) => readonly ItemAnswer[],
  ): Promise<number | undefined> {
    let response: Response
    let text: string
    try {
      response = await caller.post(path, body)
      text = await response.text()
    } catch {
      for (const one of events) one.inDoubt = true
      await Bun.sleep(AWAY_MS)
      return undefined
    }
    const { status, headers } = response
    if (status === 201 || status === 207) {
      for (const [i, answer] of read(text).entries()) {
        if (answer.at === undefined) {
          refuse(answer.status, [events[i]!])
          noteOutput(events[i]!, answer)
        } else acknowledge(events[i]!, answer.at)
      }
    } else {
      refuse(status, events)
      const isProblem = headers.get('content-type')?.startsWith('application/problem+json') // not a balancer's
      const problem = (isProblem ? JSON.parse(text) : { status }) as Refused & { items?: Refused[] }
      for (const [i, one] of events.entries()) noteOutput(one, problem.items?.[i] ?? problem)
      if ((status === 429 || status === 503) && !/^\d+$/.test(headers.get('retry-after') ?? ''))
        counts.withoutRetryAfter++
    }
    return status
  }

  const readOne = (text: string) => [JSON.parse(text) as { at: string }]
  const readBatch = (text: string) => (JSON.parse(text) as { items: ItemAnswer[] }).items
  const sendOne = (caller: Caller, one: Sent) => post(caller, `/v1/${one.kind}`, bodyOf(one), [one], readOne)
  const sendBatch = (caller: Caller, events: readonly Sent[]) =>
    post(
      caller,
      '/v1/batch',
      events.map((one) => ({ kind: one.kind, ...bodyOf(one) })),
      events,
      readBatch,
    )

  /** A run's events; half of the runs bring their own time: in µs, so that the end is later than its start, or in ms or seconds, the same for all of it. */
  function beginRun(): Sent[] {
    const id = nextId++
    const precision = precisionOf(id)
    const base = new Date(nowMs() - 30_000).toISOString().slice(0, precision === 's' ? -5 : -1)
    const own = (us: number) =>
      precision && `${base}${precision === 'µs' ? String(((id * 7) % 990) + us).padStart(3, '0') : ''}Z`
    const events = [begin('start', id, own(0)), begin('metrics', id, own(1))]
    if (id % 4 === 0) events.push(begin('exception', id, own(2)))
    events.push(begin('end', id, own(3)))
    if (poisonEvery > 0 && id % poisonEvery === 1) {
      events.push(begin(id % (2 * poisonEvery) === 1 ? 'metrics' : 'exception', nextId++, undefined, true))
    }
    return events
  }

  return {
    /** One client: runs with metrics and now and then an exception, singly or as a batch, some with their own time, until `isOver`. A broken connection is waited out. */
    async load(caller: Caller, isOver: () => boolean): Promise<void> {
      while (!isOver()) {
        const events = beginRun()
        if (events[0]!.id % 6 === 5) {
          const more = Array.from({ length: 9 }, beginRun).flat()
          await sendBatch(caller, [...events, ...more])
        } else for (const one of events) await sendOne(caller, one)
      }
    },
    /** One event of a kind; resolves to the status, or undefined when no answer came. */
    send: (caller: Caller, kind: Kind) => sendOne(caller, begin(kind, nextId++)),
    /**
     * Sends the events of their own time that are in doubt again, until each has its answer: they must be there once all the same. `also` picks
     * others of their own time to send again.
     */
    async retry(caller: Caller, also: (id: number) => boolean = () => false): Promise<void> {
      const again = sent.filter(
        (one) => one.own !== undefined && (one.inDoubt || (one.at !== undefined && also(one.id))),
      )
      const sendNext = async () => {
        for (let one = again.pop(); one !== undefined; one = again.pop()) {
          while ((await sendOne(caller, one)) !== 201) await Bun.sleep(AWAY_MS)
        }
      }
      await Promise.all(Array.from({ length: RETRIES_AT_ONCE }, sendNext))
    },
    /** A moment to which a restore may go back. */
    snapshot: (): Snapshot => new Set(sent.filter(({ at, inDoubt }) => at !== undefined && !inDoubt)),
    /**
     * A copy of the data from that moment is in place: what was acknowledged after it may be lost, but for what was `seen` in stores that are not part of
     * the copy. Returns how many events may be lost.
     */
    restored(snapshot: Snapshot, seen?: Stored): number {
      const books = openBooks(sent)
      if (seen) auditAll(seen, books)
      const isThere = (one: Sent) => books.has(one.kind, one.id) && (!saysSomething(one) || books.has('output', one.id))
      const isSafe = (one: Sent) => snapshot.has(one) || isThere(one)
      const after = sent.filter((one) => one.at !== undefined && !one.inDoubt && !isSafe(one))
      for (const one of after) one.inDoubt = true
      return after.length
    },
    /** Events sent again with their own time and answered with the same time. */
    sentAgain: () => counts.again,
    /** Events with a 201. */
    acknowledged: () => counts.acknowledged,
    /** Events whose answer never came: they may be stored or not. */
    unanswered: () => sent.filter(({ at, inDoubt }) => at === undefined && inDoubt).length,
    /** Answers other than 201, by status; of a batch that was taken in part each event that was not. */
    refused: refused as ReadonlyMap<number, number>,
    /** Answers 429 and 503 that did not say when to come back. */
    withoutRetryAfter: () => counts.withoutRetryAfter,
    audit(stored: Stored): Findings {
      const books = openBooks(sent)
      auditAll(stored, books)
      return books.close()
    },
  }
}

function auditAll(stored: Stored, books: Books): void {
  auditTimings(stored.timings, books)
  auditMetrics(stored.points, books)
  auditExceptions(stored.exceptions, books)
  auditOutputs(stored.outputs, books)
  auditDead(stored.dead, books)
}

type Books = ReturnType<typeof openBooks>

function openBooks(sent: readonly Sent[]) {
  // an end and its output are acknowledged by one answer
  const all = sent.flatMap((one) => (saysSomething(one) ? [one, { ...one, kind: 'output' as const }] : [one]))
  const byKey = new Map(all.map((one) => [`${one.kind} ${one.id}`, one]))
  const entered = new Set<string>()
  const found = { lost: 0, twice: 0, foreign: 0, altered: 0 }
  const examples: string[] = []
  const note = (what: keyof typeof found, about: unknown) => {
    if (found[what]++ === 0 || examples.length < EXAMPLES_MAX) examples.push(`${what}: ${JSON.stringify(about)}`)
  }
  return {
    /** Its row was entered. */
    has: (kind: Kind, id: number) => entered.has(`${kind} ${id}`),
    /** The row of an event: it is there, once, with this stamp. */
    enter(kind: Kind, id: number, at: string, row: object, isAsSent: boolean, isPoison = false) {
      const key = `${kind} ${id}`
      const one = byKey.get(key)
      const mayBeThere = one?.at !== undefined || one?.inDoubt || (kind === 'output' && one?.isOutputThere)
      if (one?.isPoison !== isPoison || !mayBeThere) return note('foreign', row)
      if (entered.has(key)) return note('twice', row)
      entered.add(key)
      if (!isAsSent || (one.at !== undefined && one.at !== at)) note('altered', { row, acknowledged: one.at })
    },
    foreign: (row: object) => note('foreign', row),
    altered: (row: object) => note('altered', row),
    close(): Findings {
      for (const [key, one] of byKey) if (one.at !== undefined && !one.inDoubt && !entered.has(key)) note('lost', one)
      return { ...found, examples }
    },
  }
}

const isOf = ({ process, meta }: { process: string; meta: string | null }, id: number): boolean =>
  process === processOf(id) && meta === metaOf(id)

/** A uid is one run's own, so each run is one timing, of the stamps that were answered. */
function auditTimings(timings: readonly Timing[], books: Books): void {
  for (const row of timings) {
    const id = Number(/^run-(\d+)$/.exec(row.uid ?? '')?.[1] ?? Number.NaN)
    if (Number.isNaN(id)) {
      books.foreign(row)
      continue
    }
    if (row.started_at !== null) books.enter('start', id, row.started_at, row, isOf(row, id))
    if (row.ended_at !== null) books.enter('end', id, row.ended_at, row, isOf(row, id))
    const state = row.started_at === null ? 'orphan' : row.ended_at === null ? 'running' : 'completed'
    if (row.state !== state) books.altered(row)
  }
}

/** The two metrics of a request share their stamp, process and meta. */
function auditMetrics(points: readonly MetricPoint[], books: Books): void {
  const seconds = new Map<string, number[]>()
  const placeOf = ({ at, process, meta }: MetricPoint) => JSON.stringify([at, process, meta])
  for (const row of points) {
    if (row.name !== SECOND_NAME) continue
    const values = seconds.get(placeOf(row))
    if (values) values.push(row.value)
    else seconds.set(placeOf(row), [row.value])
  }
  for (const row of points) {
    if (row.name === SECOND_NAME) continue
    if (row.name !== 'value' || !Number.isInteger(row.value)) {
      books.foreign(row)
      continue
    }
    const beside = seconds.get(placeOf(row)) ?? []
    const at = beside.findIndex((value) => Object.is(value, secondValueOf(row.value)))
    books.enter('metrics', row.value, row.at, row, isOf(row, row.value) && at >= 0)
    beside.splice(at, at < 0 ? 0 : 1)
  }
  for (const [place, values] of seconds) for (const value of values) books.foreign({ place, value })
}

function auditExceptions(exceptions: readonly ExceptionText[], books: Books): void {
  for (const row of exceptions) {
    const id = Number(/^boom (\d+)\n/.exec(row.exception)?.[1] ?? Number.NaN)
    if (Number.isNaN(id)) books.foreign(row)
    else books.enter('exception', id, row.at, row, isOf(row, id) && row.exception === exceptionOf(id))
  }
}

function auditOutputs(outputs: readonly OutputText[], books: Books): void {
  for (const row of outputs) {
    const id = Number(/^done (\d+)\n/.exec(row.output)?.[1] ?? Number.NaN)
    if (Number.isNaN(id)) books.foreign(row)
    else books.enter('output', id, row.at, row, isOf(row, id) && row.uid === uidOf(id) && row.output === outputOf(id))
  }
}

function auditDead(dead: readonly DeadLetter[], books: Books): void {
  for (const row of dead) {
    const { items, exception = '' } = (row.event ?? {}) as { items?: Record<string, number>; exception?: string }
    const id = items?.value ?? Number(/^boom (\d+)\n/.exec(exception)?.[1] ?? Number.NaN)
    if (Number.isNaN(id)) books.foreign(row)
    else books.enter(row.kind as Kind, id, row.at ?? '', row, row.process === POISON_PROCESS && row.reason !== '', true)
  }
}

/** Asks the API for everything of the last hours, page by page. */
export async function readStored(caller: Caller, from = '-3h'): Promise<Stored> {
  const [timings, points, exceptions, outputs, dead] = await Promise.all([
    readAll<Timing>(caller, `/api/timings?from=${from}`, 'timings'),
    readAll<MetricPoint>(caller, `/api/metrics?from=${from}`, 'points'),
    readAll<ExceptionText>(caller, `/api/exceptions?from=${from}`, 'exceptions'),
    readAll<OutputText>(caller, `/api/outputs?from=${from}`, 'outputs'),
    readAll<DeadLetter>(caller, '/api/dead?', 'dead'),
  ])
  return { timings, points, exceptions, outputs, dead }
}

/** Every row behind the cursors of a path that has its parameters already. */
export async function readAll<Row>(caller: Pick<Caller, 'get'>, path: string, member: string): Promise<Row[]> {
  const all: Row[] = []
  for (let cursor = ''; ; ) {
    const response = await caller.get(
      `${path}${path.endsWith('?') ? '' : '&'}limit=1000${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    )
    const text = await response.text()
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`)
    const answer = JSON.parse(text) as { next: string | null; [member: string]: unknown }
    all.push(...(answer[member] as Row[]))
    if (answer.next === null) return all
    cursor = answer.next
  }
}

/** Records of both spools; undefined while it cannot be asked. */
export async function countSpooled(url: string): Promise<{ points: number; exceptions: number } | undefined> {
  const metrics = await fetch(`${url}/metrics`).then(
    (response) => response.text(),
    () => '', // it is not there just now
  )
  const of = (destination: string) =>
    new RegExp(`^stint_spool_records\\{destination="${destination}"\\} (\\d+)$`, 'm').exec(metrics)?.[1]
  const [points, exceptions] = [of('points'), of('exceptions')]
  return points === undefined || exceptions === undefined
    ? undefined
    : { points: Number(points), exceptions: Number(exceptions) }
}

/** Resolves when both spools are empty: all that was accepted is in the stores or the dead letters. */
export async function untilShipped(url: string, withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs
  while (performance.now() < deadline) {
    const waiting = await countSpooled(url)
    if (waiting?.points === 0 && waiting.exceptions === 0) return
    await Bun.sleep(50)
  }
  throw new Error(`not shipped within ${withinMs} ms`)
}
