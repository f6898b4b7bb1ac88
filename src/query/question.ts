// A query string → a validated question. All errors are reported at once, with a pointer to each parameter.
import { escapePointer } from '../event/faults.ts'
import { type Fault, Problem } from '../problem.ts'
import { FIRST_NS, LAST_NS } from '../store/order.ts'
import type { Names } from '../store/source.ts'
import { FIND_DEAD_LETTERS } from '../wire/dead-letters.ts'
import { EXPORT_EXCEPTIONS, FIND_EXCEPTIONS, GROUP_EXCEPTIONS } from '../wire/exceptions.ts'
import { FIND_METRICS } from '../wire/metrics.ts'
import { FIND_OUTPUTS } from '../wire/outputs.ts'
import { DEFAULT_EACH, DEFAULT_LIMIT, type EXPORT_FORMATS, type ParameterName } from '../wire/parameters.ts'
import { COUNT_SERIES, FIND_PROCESSES, SHOW_PROMETHEUS } from '../wire/processes.ts'
import type { Route, WithParameters } from '../wire/route.ts'
import { FIND_LATEST_TIMINGS, FIND_TIMINGS, SUMMARIZE_TIMINGS } from '../wire/timings.ts'
import { type Every, fitsDays } from './buckets.ts'
import { type Cursor, digestQuestion, encodeCursor, parseStamp } from './cursor.ts'
import { type Given, type Parsers, type Percentile, readersOf } from './parameters.ts'

export const QUESTION_ROUTES = {
  timings: FIND_TIMINGS,
  latest: FIND_LATEST_TIMINGS,
  summary: SUMMARIZE_TIMINGS,
  metrics: FIND_METRICS,
  exceptions: FIND_EXCEPTIONS,
  outputs: FIND_OUTPUTS,
  groups: GROUP_EXCEPTIONS,
  export: EXPORT_EXCEPTIONS,
  processes: FIND_PROCESSES,
  series: COUNT_SERIES,
  prometheus: SHOW_PROMETHEUS,
  dead: FIND_DEAD_LETTERS,
} as const satisfies Record<string, Route>

export type QuestionKind = keyof typeof QUESTION_ROUTES

const OF_POINTS: readonly QuestionKind[] = ['summary', 'metrics', 'prometheus']
const OF_EXCEPTIONS: readonly QuestionKind[] = ['exceptions', 'outputs', 'groups']
/** The stores that the questions of a kind ask. */
export const asksOf = (kind: QuestionKind): 'points' | 'exceptions' | 'both' =>
  OF_POINTS.includes(kind) ? 'points' : OF_EXCEPTIONS.includes(kind) ? 'exceptions' : 'both'

/** How the next page finds the last item of this one again, for the questions that have pages. */
const PLACES: { readonly [K in QuestionKind]?: 'row' | 'id' } = {
  timings: 'row',
  metrics: 'row',
  exceptions: 'row',
  outputs: 'row',
  groups: 'row',
  processes: 'row',
  dead: 'id',
}

export interface Question {
  /** The range [fromNs, toNs), not empty and within what a store can hold. */
  readonly fromNs: bigint
  readonly toNs: bigint
  /** The moment the question is asked, or was asked for the first page. */
  readonly nowNs: bigint
  readonly process?: Names
  readonly meta?: string
  readonly uid?: string
  readonly state?: GivenToAny['state']
  readonly name?: string
  readonly fingerprint?: string
  readonly text?: readonly string[]
  readonly status?: GivenToAny['status']
  readonly format?: (typeof EXPORT_FORMATS)[number]
  readonly metric?: readonly string[]
  /** Timings with the states that they had at `toNs`. */
  readonly as_of?: 'to'
  /** The longest first. */
  readonly slowest: boolean
  /** Groups with most exceptions first. */
  readonly byCount: boolean
  readonly percentiles?: readonly Percentile[]
  /** The second range of a summary. */
  readonly compare?: { readonly fromNs: bigint; readonly toNs: bigint }
  readonly byMeta: boolean
  /** Dead letters of all accounts. */
  readonly all: boolean
  readonly every?: Every
  /** Only with `every`. */
  readonly tz?: string
  readonly limit: number
  readonly each: number
  /** On every page but the first: the last item of the page before. */
  readonly place?: readonly string[]
  /** The cursor of the page after that item. */
  next(place: readonly string[]): string
}

/** Parameters that mean nothing without another one. */
const NEEDS = [
  ['tz', 'every'],
  ['compare_to', 'compare_from'],
] as const
const isOfRange = ({ pointer }: Fault): boolean => /^\/(compare_)?(from|to)$/.test(pointer)
const MAX_FAULTS = 100
const HOUR_NS = 3_600_000_000_000n

/** All that questions take; each takes a part. */
type GivenToAny = Given<{ readonly parameters: readonly ParameterName[] }> & { readonly sort?: 'duration' | 'count' }

/** Throws Problem `question_invalid`. */
export function parseQuestion(kind: QuestionKind, search: URLSearchParams, nowNs: bigint): Question {
  const { given, texts, faults } = readParameters<GivenToAny>(QUESTION_ROUTES[kind], search, nowNs)
  const { cursor } = given
  const digest = digestQuestion(
    kind,
    texts.filter(([name]) => name !== 'limit' && name !== 'cursor'),
  )

  const named = new Set(texts.map(([name]) => name))
  const has = (name: string) => named.has(name)
  const refuse = (name: string, detail: string) => faults.push({ pointer: `/${name}`, detail })
  for (const name of ['limit', 'cursor', 'compare_from'] as const)
    if (kind !== 'groups' && has('every') && has(name)) refuse(name, 'does not go with every')
  for (const [name, needed] of NEEDS) if (has(name) && !has(needed)) refuse(name, `needs ${needed}`)
  if (kind === 'metrics' && has('by') && !has('every')) refuse('by', 'needs every')
  if (given.sort !== undefined && given.state !== undefined && given.state !== 'completed' && given.state !== 'failed')
    refuse('sort', 'goes with state=completed and state=failed only: others have no duration')
  if (given.tz !== undefined && given.every !== undefined && !fitsDays(given.every))
    refuse('every', 'must be at most 24h with tz, or in d, w or mo')
  if (cursor !== undefined && !isCursorOf(kind, cursor, digest))
    refuse('cursor', 'belongs to a question with other parameters')

  const fromNs = given.from ?? nowNs - HOUR_NS
  const toNs = given.to ?? nowNs
  if (cursor === undefined && fromNs >= toNs && !faults.some(({ pointer }) => pointer === '/from' || pointer === '/to'))
    refuse('from', 'must be earlier than to; it is an hour ago when it is not given')
  const compareTo = given.compare_to ?? fromNs
  if (given.compare_from !== undefined && given.compare_from >= compareTo && !faults.some(isOfRange))
    refuse('compare_from', 'must be earlier than compare_to, which is from when it is not given')
  if (faults.length > 0) throw incorrect(faults)

  const range = cursor ?? { ...clampRange(fromNs, toNs), nowNs }
  const fixed = { fromNs: range.fromNs, toNs: range.toNs, nowNs: range.nowNs }
  const { process, compare_from, by, sort, all, limit, each, ...same } = given
  return {
    ...same,
    ...fixed,
    ...(process !== undefined && { process: process.length === 1 ? process.join() : process }),
    ...(compare_from !== undefined && { compare: clampRange(compare_from, compareTo) }),
    ...(cursor !== undefined && { place: cursor.place }),
    slowest: sort === 'duration',
    byCount: sort === 'count',
    byMeta: by === 'meta',
    all: all !== undefined,
    limit: limit ?? DEFAULT_LIMIT,
    each: each ?? DEFAULT_EACH,
    next: (place) => encodeCursor({ ...fixed, place, digest }),
  }
}

/** The query parameters of a route; `own` reads those that only it has. Throws Problem `question_invalid`. */
export function parseParameters<const R extends WithParameters, Own extends Parsers = Record<never, never>>(
  route: R,
  search: URLSearchParams,
  own?: Own,
  nowNs = 0n,
): Given<R, Own> {
  const { given, faults } = readParameters<Given<R, Own>>(route, search, nowNs, own)
  if (faults.length > 0) throw incorrect(faults)
  return given
}

const incorrect = (errors: readonly Fault[]) =>
  new Problem('question_invalid', 'The parameters of the question are incorrect.', { errors })

function readParameters<G>(route: WithParameters, search: URLSearchParams, nowNs: bigint, own?: Parsers) {
  const readers = readersOf(route, own)
  const faults: Fault[] = []
  const given: Record<string, unknown> = {}
  const texts: (readonly [name: string, text: string])[] = []
  for (const name of new Set(search.keys())) {
    if (faults.length >= MAX_FAULTS) break
    const fault = (detail: string) => faults.push({ pointer: `/${escapePointer(name)}`, detail })
    const all = search.getAll(name)
    const reader = Object.hasOwn(readers, name) ? readers[name] : undefined
    const { parse, max } = reader ?? {}
    if (parse === undefined) fault(unknownDetail(Object.keys(readers)))
    else if (all.length > (max ?? 1))
      fault(max === undefined ? 'may be given only once' : `may be given at most ${max} times`)
    else {
      const parsed = all.map((text) => parse(text, nowNs))
      const faulty = parsed.find((one) => 'detail' in one)
      const values = parsed.flatMap((one) => ('value' in one ? [one.value] : []))
      texts.push(...all.toSorted().map((text) => [name, text] as const))
      if (faulty !== undefined) fault(faulty.detail)
      else given[name] = max === undefined ? values[0] : [...new Set(values)].toSorted()
    }
  }
  return { given: given as G, texts, faults }
}

const unknownDetail = (allowed: readonly string[]) =>
  allowed.length === 0
    ? 'this question takes no parameters'
    : `is not a parameter of this question, which takes ${allowed.join(', ')}`

/** A cursor can be made up: what it says must fit the question before anything relies on it. */
function isCursorOf(kind: QuestionKind, { digest, place }: Cursor, expected: string): boolean {
  if (digest !== expected) return false
  if (PLACES[kind] === 'id') return place.length === 1
  return place.length === 2 && parseStamp(place[0]!) !== undefined
}

/** Stores hold no event outside these times, so clamping changes no answer. Never empty: Flux refuses that. */
function clampRange(fromNs: bigint, toNs: bigint) {
  const from = clamp(fromNs, FIRST_NS, LAST_NS - 1n)
  return { fromNs: from, toNs: clamp(toNs, from + 1n, LAST_NS) }
}

const clamp = (ns: bigint, min: bigint, max: bigint): bigint => (ns < min ? min : ns > max ? max : ns)
