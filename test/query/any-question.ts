// Random events and questions. Times are numbers of µs.
import type { Event } from '../../src/event/event.ts'
import { fingerprint } from '../../src/event/fingerprint.ts'

const HOUR = 3_600e6

export type Random = () => number

/** Mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

const pick = <T>(random: Random, values: readonly T[]): T => values[Math.floor(random() * values.length)]!

const PROCESSES = ['import', 'im', 'ä, b=c \\d', '$__interval']
const METAS = ['', 'eu', 'eu west', '$' + '{x}']
const UIDS = ['', 'a', 'b', 'ab', 'c-1']
const NAMES = ['rows', 'rows_ms', 'ratio']
const TEXTS = [
  'Error: no route to Host\n  at x',
  'KeyError: order 17 is gone',
  'TypeError: x is not a function',
  'late',
]

/** Events of an hour up to `nowUs`, each at a µs of its own; some marks at whole seconds of their own. */
export function anyEvents(random: Random, account: string, nowUs: number, count: number): Event[] {
  return Array.from({ length: count }, (_, i): Event => {
    const us = nowUs - HOUR + Math.floor((i / count) * HOUR) + Math.floor(random() * 1000)
    const common = { account, process: pick(random, PROCESSES), meta: pick(random, METAS), stamp: { us, sub: 4 } }
    const uid = pick(random, UIDS)
    const chance = random()
    if (chance < 0.2) {
      const items = NAMES.filter(() => random() < 0.6).map((name): [string, number] => [name, random() * 100 - 20])
      return {
        kind: 'metrics',
        ...common,
        items: items.length === 0 ? [['rows', 1]] : items,
        ...(uid !== '' && { uid }),
      }
    }
    if (chance < 0.35)
      return { kind: 'exception', ...common, exception: pick(random, TEXTS), ...(uid !== '' && { uid }) }
    const stamp = random() < 0.1 ? { us, sub: (us % 100) * 10 + 7 } : common.stamp
    if (chance < 0.65) return { kind: 'start', ...common, uid, stamp }
    return { kind: 'end', ...common, uid, stamp, ...(chance > 0.9 && { failed: true }) }
  })
}

interface Group {
  readonly fingerprint: string
  readonly process: string
  readonly status: 'resolved' | 'ignored'
  readonly by: string
  readonly atUs: number
}

export const anyStates = (random: Random, nowUs: number): Group[] =>
  PROCESSES.flatMap((process) =>
    TEXTS.filter(() => random() < 0.3).map((text) => ({
      ...{ fingerprint: fingerprint(text), process, by: 'ada@example.com', atUs: nowUs - Math.floor(random() * HOUR) },
      status: random() < 0.5 ? ('resolved' as const) : ('ignored' as const),
    })),
  )

const iso = (us: number): string =>
  `${new Date(Math.floor(us / 1e6) * 1000).toISOString().slice(0, 19)}.${String(us % 1e6).padStart(6, '0')}000Z`

export type Kind = 'timings' | 'summary' | 'metrics' | 'exceptions' | 'groups' | 'processes'

export function anyQuestion(random: Random, nowUs: number): { kind: Kind; search: URLSearchParams } {
  const kind = pick(random, [
    'timings',
    'timings',
    'timings',
    'summary',
    'summary',
    'metrics',
    'exceptions',
    'groups',
    'processes',
  ] as const)
  const search = new URLSearchParams()
  const maybe = (chance: number, name: string, value: () => string) => {
    if (random() < chance) search.append(name, value())
  }
  const moment = () => nowUs - Math.floor(random() * HOUR)
  const [a, b] = [moment(), moment()]
  search.set('from', iso(Math.min(a, b)))
  maybe(0.7, 'to', () => iso(Math.max(a, b) + 1))
  const isOfGroups = kind === 'groups' || kind === 'processes'
  if (kind !== 'processes')
    for (let n = Math.floor(random() * 3); n > 0; n--) search.append('process', pick(random, PROCESSES))
  if (!isOfGroups) maybe(0.3, 'meta', () => pick(random, METAS))
  if (kind === 'timings' || kind === 'summary' || kind === 'metrics')
    maybe(0.2, 'uid', () => pick(random, UIDS.slice(1)))
  if (kind === 'timings') {
    const isSorted = random() < 0.25
    if (isSorted) search.set('sort', 'duration')
    const states = isSorted
      ? ['completed', 'failed']
      : ['completed', 'failed', 'running', 'abandoned', 'orphan', 'trouble', 'trouble']
    maybe(0.6, 'state', () => pick(random, states))
    for (const name of NAMES) maybe(0.2, 'metric', () => name)
  }
  if (kind === 'summary') {
    maybe(0.5, 'by', () => 'meta')
    maybe(0.4, 'percentiles', () => pick(random, ['50', '0,100', '12.5,99.9,75']))
    maybe(0.4, 'every', () => pick(random, ['7s', '5m', '1h']))
    if (!search.has('every')) maybe(0.4, 'compare_from', () => iso(Math.min(a, b) - 1 - Math.floor(random() * HOUR)))
  }
  if (kind === 'metrics') {
    maybe(0.4, 'name', () => pick(random, NAMES))
    maybe(0.4, 'every', () => pick(random, ['7s', '5m', '1h']))
    if (search.has('every')) maybe(0.5, 'by', () => 'meta')
  }
  if (kind === 'exceptions' || kind === 'groups') {
    maybe(0.3, 'fingerprint', () => fingerprint(pick(random, TEXTS)))
    maybe(0.3, 'text', () => pick(random, ['HOST', 'order gone', 'x', 'nothing of it']))
  }
  if (kind === 'groups')
    maybe(0.6, 'status', () => pick(random, ['unresolved', 'resolved', 'ignored', 'regressed', 'all']))
  if (kind === 'processes') maybe(0.5, 'by', () => 'meta')
  const hasPages = !search.has('every') && kind !== 'summary'
  // a page of one row is a question per row: of a uid there are few
  if (hasPages) maybe(0.7, 'limit', () => pick(random, [search.has('uid') ? '1' : '7', '20', '1000']))
  return { kind, search }
}
