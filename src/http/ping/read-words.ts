// What the parameters of a ping say, in the words of Healthchecks, Cronitor, Sentry, Dead Man's Snitch, Uptime Kuma and
// Gatus: one table, which any of them may mix. Invariants:
// * A word that is not known, and words that contradict each other, store nothing: a typing error is no success.
// * A parameter without a value says nothing, but for those that say how a run ended: a variable was not set.
import type { Fault } from '../../problem.ts'
import { toUid } from '../../wire/run-id.ts'
import type { Signal } from './read-ping.ts'

/** A ping without its process and body. */
export interface Words {
  readonly signal: Signal
  /** Other than 0. */
  readonly exitCode: number | undefined
  readonly uid: string
  readonly meta: string
  /** Lines for people. */
  readonly text: string
  /** Undefined: not given. */
  readonly durationUs: number | undefined
  readonly metrics: readonly (readonly [name: string, value: number])[]
}

interface Said {
  /** Each signal by what says it. */
  readonly signals: Map<string, Signal>
  readonly codes: Set<number>
  readonly uids: Set<string>
  /** Parameter → its value, in the order of the table. */
  readonly metas: Map<string, string>
  readonly texts: string[]
  readonly durations: Set<number>
  readonly metrics: (readonly [string, number])[]
}

/** Takes a value that is not empty; returns its fault. */
type Take = (value: string, said: Said, name: string) => string | undefined

const oneOf =
  (words: Readonly<Record<string, Signal>>): Take =>
  (value, { signals }, name) => {
    const word = value.toLowerCase()
    if (!Object.hasOwn(words, word)) return `must be one of ${Object.keys(words).join(', ')}`
    return add(signals, name, words[word]!)
  }

const takeCode: Take = (value, said, name) => {
  if (!/^-?\d{1,10}$/.test(value)) return 'must be an exit code'
  const code = Number(value)
  if (code !== 0) said.codes.add(code)
  return add(said.signals, name, code === 0 ? 'success' : 'fail')
}

const takeUid: Take = (value, { uids }) => {
  uids.add(toUid(value))
  return uids.size > 1 ? 'names another run than the parameter before it' : undefined
}

const takeMeta: Take = (value, { metas }, name) => add(metas, name, value)

const takeText: Take = (value, { texts }) => {
  texts.push(value)
  return undefined
}

const takeError: Take = (value, said, name) => {
  said.texts.push(value)
  return add(said.signals, name, 'fail')
}

const UNIT_S = { h: 3600, m: 60, s: 1, ms: 1e-3, us: 1e-6, µs: 1e-6, ns: 1e-9 } as const
const PART = /(\d+(?:\.\d*)?|\.\d+)(h|ms|m|s|us|µs|ns)/g
const MAX_S = 1e9

/** `1m30.5s` as Go writes it, or a number of `plain` seconds. */
const takeDuration =
  (plain: number): Take =>
  (value, { durations }) => {
    const isNumber = /^\d{1,15}(\.\d{1,15})?$/.test(value)
    if (!isNumber && value.replace(PART, '') !== '') return 'must be a duration such as 12.5 or 1m30s'
    const seconds = isNumber
      ? Number(value) * plain
      : [...value.matchAll(PART)].reduce((sum, [, n, unit]) => sum + Number(n) * UNIT_S[unit as keyof typeof UNIT_S], 0)
    if (seconds > MAX_S) return 'is too long'
    durations.add(Math.round(seconds * 1e6))
    return durations.size > 1 ? 'is another duration than the parameter before it' : undefined
  }

const takeMetric: Take = (value, { metrics }) => {
  const at = value.lastIndexOf(':')
  const [name, number] = [value.slice(0, at), value.slice(at + 1).trim()]
  if (at < 1 || !/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(number)) return 'must be name:number'
  metrics.push([name, Number(number)])
  return undefined
}

function add<T>(to: Map<string, T>, name: string, value: T): string | undefined {
  if (to.has(name) && to.get(name) !== value) return 'is given twice, with different values'
  to.set(name, value)
  return undefined
}

const PARAMETERS: Readonly<Record<string, Take>> = {
  state: oneOf({ run: 'start', complete: 'success', ok: 'success', fail: 'fail' }), // Cronitor
  status: oneOf({ in_progress: 'start', ok: 'success', error: 'fail', up: 'success', down: 'fail' }), // Sentry, Kuma
  success: oneOf({ true: 'success', false: 'fail' }), // Gatus
  s: takeCode, // Dead Man's Snitch
  exit_code: takeCode,
  status_code: takeCode, // Cronitor
  rid: takeUid, // Healthchecks
  series: takeUid, // Cronitor
  check_in_id: takeUid, // Sentry
  env: takeMeta, // Cronitor
  environment: takeMeta, // Sentry
  host: takeMeta, // Cronitor
  msg: takeText, // Cronitor, Kuma
  message: takeText, // Cronitor
  m: takeText, // Dead Man's Snitch
  error: takeError, // Gatus
  duration: takeDuration(1), // Gatus, Sentry, Cronitor
  ping: takeDuration(1e-3), // Kuma
  metric: takeMetric, // Cronitor
}
const KNOWN = Object.keys(PARAMETERS)
/** Parameters that say how a run ended: an empty one is the unset variable of a script. */
const ENDINGS = ['state', 'status', 's', 'success', 'exit_code', 'status_code']
/** Breaks caches, tells a time of the caller, or asks for what Stint does by itself. */
const IGNORED = ['_', 't', 'ts', 'time', 'stamp', 'cb', 'nonce', 'create']

const SIGNAL_NAMES = { start: '/start', success: 'exit code 0', fail: '/fail', log: '/log' } as const

const createSaid = (): Said => ({
  signals: new Map(),
  codes: new Set(),
  uids: new Set(),
  metas: new Map(),
  texts: [],
  durations: new Set(),
  metrics: [],
})

/** `of`: what the address says. Returns the faults if it cannot be understood: `pointer` is `/` and the parameter. */
export function readWords(
  parameters: Iterable<readonly [name: string, value: string]>,
  of: { readonly signal: Signal | undefined; readonly exitCode: number | undefined },
): Words | readonly Fault[] {
  const faults: Fault[] = []
  const said = createSaid()
  if (of.exitCode) said.codes.add(of.exitCode)
  for (const [name, value] of parameters) {
    if (IGNORED.includes(name)) continue
    const isEmpty = value.trim() === ''
    if (isEmpty && !ENDINGS.includes(name)) continue
    const detail = isEmpty
      ? 'has no value: a variable that is not set?'
      : Object.hasOwn(PARAMETERS, name)
        ? PARAMETERS[name]!(value.trim(), said, name)
        : `is not a parameter of a ping; known are ${KNOWN.join(', ')}`
    if (detail !== undefined) faults.push({ pointer: `/${name.slice(0, 100)}`, detail })
  }
  const signals = [...said.signals]
  const signal = of.signal ?? signals[0]?.[1] ?? 'success'
  const by = of.signal === undefined ? signals[0]?.[0] : `${SIGNAL_NAMES[of.signal]} of the address`
  for (const [name, other] of signals)
    if (other !== signal) faults.push({ pointer: `/${name}`, detail: `contradicts ${by}` })
  if (said.codes.size > 1) faults.push({ pointer: '', detail: 'has two exit codes' })
  if (said.durations.size > 0 && (signal === 'start' || signal === 'log'))
    faults.push({ pointer: '/duration', detail: 'goes with the end of a run' })
  if (faults.length > 0) return faults
  return {
    signal,
    exitCode: [...said.codes][0],
    uid: [...said.uids][0] ?? '',
    meta: ['env', 'environment', 'host'].flatMap((name) => said.metas.get(name) ?? []).join(' '),
    text: said.texts.join('\n'),
    durationUs: [...said.durations][0],
    metrics: said.metrics,
  }
}

/** Members of Sentry's check-in in JSON. */
const CHECK_IN = ['status', 'state', 'check_in_id', 'duration', 'environment']
const CHECK_IN_CONFIG = ['monitor_config', 'monitor_slug', 'release', 'contexts']

type Pair = readonly [name: string, value: string]

/**
 * The parameters that a body holds: a form (`curl -d s=$?`) or a check-in of Sentry in JSON, whatever it is called.
 * Undefined: it is text, as a body of Healthchecks is, which curl sends as a form, too.
 */
export function readBodyWords(body: string, contentType: string | null): readonly Pair[] | undefined {
  const [type] = (contentType ?? '').toLowerCase().split(/\s*;/)
  if (type === 'application/json') return readCheckIn(body)
  if (/^\s*\{/.test(body)) {
    const words = readCheckIn(body)
    return words?.every(isKnown) && words.filter(isOfState).every(isState) ? words : undefined
  }
  return type === 'application/x-www-form-urlencoded' ? readForm(body.trim()) : undefined
}

const isKnown = ([name]: Pair) => Object.hasOwn(PARAMETERS, name) || IGNORED.includes(name)
/** Says in one word, or without one, how the run ended; lines of a log have more behind it. */
const isEnding = ([name, value]: Pair) => ENDINGS.includes(name) && !/\s/.test(value.trim())
/** The text before a `&` that belongs to an address in a log. */
const IN_ADDRESS = /\?[^\s?&=]+=\S*$/

function readForm(body: string): readonly Pair[] | undefined {
  if (!/^[a-z_]+=/.test(body)) return undefined
  const pairs = [...new URLSearchParams(body)]
  if (!/[\r\n]/.test(body)) {
    const hasEnding = pairs.some(([name]) => ENDINGS.includes(name))
    return pairs.some(isEnding) || (!hasEnding && pairs.every(isKnown)) ? pairs : undefined
  }
  // line breaks belong to a value of a form, or it is a log, whose addresses may have the same words
  if (!Object.hasOwn(PARAMETERS, pairs[0]![0])) return undefined
  const areKnown = pairs.every(isKnown)
  const isForm = pairs.some((pair, at) => isEnding(pair) && (areKnown || !IN_ADDRESS.test(pairs[at - 1]?.[1] ?? '')))
  return isForm ? pairs : undefined
}

function readCheckIn(body: string): readonly Pair[] | undefined {
  let json: unknown
  try {
    json = JSON.parse(body)
  } catch {
    return undefined // text that is called JSON
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return undefined
  const members = Object.entries(json)
    .filter(([name]) => !CHECK_IN_CONFIG.includes(name))
    .map(([name, value]): Pair => [name, isKnown([name, '']) && isNothing(value) ? '' : String(value)])
  const states = members.filter(isOfState)
  const isCheckIn = states.length > 0 && members.every(([name]) => CHECK_IN.includes(name))
  return isCheckIn || states.some(isState) ? members : undefined
}

const isNothing = (value: unknown) => value === null || typeof value === 'object'
const isOfState = ([name]: Pair) => name === 'status' || name === 'state'
/** A known word, or none where one is due. */
const isState = ([name, value]: Pair) =>
  value.trim() === '' || PARAMETERS[name]!(value.trim(), createSaid(), name) === undefined
