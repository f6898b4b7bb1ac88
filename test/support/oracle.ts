// What was sent and what was acknowledged, kept outside the process; and whether the stores hold exactly that: every acknowledged event
// once and as it was sent, each other one at most once, and nothing that was never sent. Every event carries a number that is its own.
import { expect } from 'bun:test'
import type { Caller } from './process.ts'

type Kind = 'start' | 'end' | 'metrics' | 'exception'

interface Sent {
  readonly kind: Kind
  readonly id: number
  /** The stamp of the 201; absent when it was refused or its answer never came. */
  at?: string
}

export interface Timing {
  readonly process: string
  readonly meta: string | null
  readonly uid: string
  readonly state: string
  readonly started_at: string | null
  readonly ended_at: string | null
}
export interface Point {
  readonly at: string
  readonly process: string
  readonly meta: string | null
  readonly name: string
  readonly value: number
}
export interface Thrown {
  readonly at: string
  readonly process: string
  readonly meta: string | null
  readonly exception: string
}

/** All that the API answers an account. */
export interface Stored {
  readonly timings: readonly Timing[]
  readonly points: readonly Point[]
  readonly exceptions: readonly Thrown[]
}

export interface Oracle {
  /** One client: runs with metrics and now and then an exception, one request after the other, until `isOver`. A broken connection is waited out. */
  load(caller: Caller, isOver: () => boolean): Promise<void>
  /** Events with a 201. */
  acknowledged(): number
  /** Events whose answer never came: they may be stored or not. */
  unanswered(): number
  /** Answers other than 201, by status. */
  readonly refused: ReadonlyMap<number, number>
  /** Fails the test unless the stores hold what they must, and only that. */
  check(stored: Stored): void
}

const AWAY_MS = 5
const SECOND_NAME = 'läng e=1,2'

const processOf = (id: number): string => `job ${id % 3}`
/** As it is read; it is sent with characters that Stint strips. */
const metaOf = (id: number): string | null => (id % 2 === 0 ? `meta  ${id % 4}` : null)
const exceptionOf = (id: number): string => `boom ${id}\n\t"at" \\ 'x' 😀`

function bodyOf(kind: Kind, id: number): unknown {
  const common = { process: processOf(id), ...(id % 2 === 0 && { meta: `m"e't%a % ${id % 4}` }) }
  if (kind === 'metrics') return { ...common, items: { value: id, [SECOND_NAME]: id / 8 } }
  if (kind === 'exception') return { ...common, exception: exceptionOf(id) }
  return { ...common, uid: `run-${id}` }
}

export function createOracle(): Oracle {
  const sent: Sent[] = []
  const refused = new Map<number, number>()
  let nextId = 0

  async function send(caller: Caller, kind: Kind, id: number): Promise<void> {
    const one: Sent = { kind, id }
    sent.push(one)
    const response = await caller.post(`/v1/${kind}`, bodyOf(kind, id)).catch(() => undefined)
    const text = await response?.text().catch(() => undefined)
    if (response === undefined || text === undefined) await Bun.sleep(AWAY_MS)
    else if (response.status === 201) one.at = (JSON.parse(text) as { at: string }).at
    else {
      refused.set(response.status, (refused.get(response.status) ?? 0) + 1)
      sent.splice(sent.lastIndexOf(one), 1)
    }
  }

  /** By number: the stamp, or undefined where there is none. */
  const stampsOf = (kind: Kind) =>
    new Map<number, string | undefined>(sent.filter((one) => one.kind === kind).map(({ id, at }) => [id, at]))

  return {
    async load(caller, isOver) {
      while (!isOver()) {
        const id = nextId++
        await send(caller, 'start', id)
        await send(caller, 'metrics', id)
        if (id % 4 === 0) await send(caller, 'exception', id)
        await send(caller, 'end', id)
      }
    },
    acknowledged: () => sent.filter(({ at }) => at !== undefined).length,
    unanswered: () => sent.filter(({ at }) => at === undefined).length,
    refused,
    check({ timings, points, exceptions }) {
      checkTimings(timings, stampsOf('start'), stampsOf('end'))
      for (const name of ['value', SECOND_NAME]) {
        const rows = points.filter((point) => point.name === name)
        const idOf = ({ value }: Point) => (name === 'value' ? value : value * 8)
        checkRows(rows, idOf, stampsOf('metrics'))
      }
      expect(points.filter(({ name }) => name !== 'value' && name !== SECOND_NAME)).toEqual([])
      checkRows(exceptions, ({ exception }) => Number(/^boom (\d+)\n/.exec(exception)?.[1]), stampsOf('exception'))
      expect(
        exceptions.filter(({ exception }) => exception !== exceptionOf(Number.parseInt(exception.slice(5), 10))),
      ).toEqual([])
    },
  }
}

type Stamps = ReadonlyMap<number, string | undefined>

const acknowledgedOf = (stamps: Stamps): [number, string][] =>
  [...stamps]
    .flatMap(([id, at]) => (at === undefined ? [] : ([[id, at]] as [number, string][])))
    .sort(([a], [b]) => a - b)

function checkRows<Row extends Point | Thrown>(rows: readonly Row[], idOf: (row: Row) => number, stamps: Stamps): void {
  const found = new Map(rows.map((row) => [idOf(row), row]))
  expect(rows.length - found.size).toBe(0)
  expect(rows.filter((row) => !stamps.has(idOf(row)))).toEqual([])
  expect(rows.filter((row) => row.process !== processOf(idOf(row)) || row.meta !== metaOf(idOf(row)))).toEqual([])
  const must = acknowledgedOf(stamps)
  expect(must.map(([id]) => [id, found.get(id)?.at])).toEqual(must)
}

/** A uid is one run's own, so each run is one timing, of the stamps that were answered. */
function checkTimings(timings: readonly Timing[], starts: Stamps, ends: Stamps): void {
  const idOf = ({ uid }: Timing) => Number(/^run-(\d+)$/.exec(uid)?.[1])
  const found = new Map(timings.map((timing) => [idOf(timing), timing]))
  expect(timings.length - found.size).toBe(0)
  expect(timings.filter((timing) => !starts.has(idOf(timing)) && !ends.has(idOf(timing)))).toEqual([])
  expect(timings.filter((t) => t.process !== processOf(idOf(t)) || t.meta !== metaOf(idOf(t)))).toEqual([])
  const [started, ended] = [acknowledgedOf(starts), acknowledgedOf(ends)]
  expect(started.map(([id]) => [id, found.get(id)?.started_at])).toEqual(started)
  expect(ended.map(([id]) => [id, found.get(id)?.ended_at])).toEqual(ended)
  const both = started.filter(([id]) => ends.get(id) !== undefined)
  expect(both.filter(([id]) => found.get(id)?.state !== 'completed')).toEqual([])
}

/** Asks the API for everything of the last hour, page by page. */
export async function readStored(caller: Caller): Promise<Stored> {
  const [timings, points, exceptions] = await Promise.all([
    readAll<Timing>(caller, '/api/timings', 'timings'),
    readAll<Point>(caller, '/api/metrics', 'points'),
    readAll<Thrown>(caller, '/api/exceptions', 'exceptions'),
  ])
  return { timings, points, exceptions }
}

async function readAll<Row>(caller: Caller, path: string, member: string): Promise<Row[]> {
  const all: Row[] = []
  for (let cursor = ''; ; ) {
    const response = await caller.get(`${path}?limit=1000${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
    const text = await response.text()
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`)
    const answer = JSON.parse(text) as { next: string | null; [member: string]: unknown }
    all.push(...(answer[member] as Row[]))
    if (answer.next === null) return all
    cursor = answer.next
  }
}

/** Resolves when both spools are empty: all that was accepted is in the stores or the dead letters. */
export async function untilShipped(url: string, withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs
  while (performance.now() < deadline) {
    const metrics = await (await fetch(`${url}/metrics`)).text()
    const waiting = [...metrics.matchAll(/^stint_spool_records\{.*\} (\d+)$/gm)].map(([, records]) => Number(records))
    if (waiting.length === 2 && waiting.every((records) => records === 0)) return
    await Bun.sleep(50)
  }
  throw new Error(`not shipped within ${withinMs} ms`)
}
