// The states of a process, and the one sentence about all of them: Home, `stint status` and the answer of
// GET /api/overview show the same. Free of schemas: it is in the console's bundle.
import { PROCESS_STATE_TEXT, uncheckedText } from './words.ts'

/** The sentence of an overview whose `stale_s` is 0. */
export const STORE_AWAY = 'A store does not answer: alerts are current, and nothing else is known.'

/**
 * Worst first; the worst of its metas is the state of a process. `silent`: no start for longer than it ever paused, or
 * late by its watch. `firing`: nothing but an alert. `overdue`: running, for twice as long as usual. `no_runs`: metrics
 * or exceptions alone.
 */
export const PROCESS_STATES = [
  ...(['failed', 'never_finished', 'silent', 'exceptions', 'firing'] as const),
  ...(['overdue', 'running', 'completed', 'no_runs'] as const),
] as const
export type ProcessState = (typeof PROCESS_STATES)[number]

/** The orders of processes: `trouble` has the worst first, then the most recent. */
export const OVERVIEW_SORTS = ['trouble', 'name', 'recent', 'slow', 'failures'] as const
export type OverviewSort = (typeof OVERVIEW_SORTS)[number]

/** `bad`: somebody has to look. */
export type Tone = 'bad' | 'warn' | 'good'

export interface OverallFacts {
  /** Processes by their state. */
  readonly counts: Readonly<Partial<Record<ProcessState, number>>>
  /** Checks of watches without a result: a store or Stint itself was away when they were due. */
  readonly unjudged?: number
  /** Channels whose last delivery failed, or that are disabled. */
  readonly failingChannels?: number
}

export interface Overall {
  readonly sentence: string
  readonly tone: Tone
}

const BAD: readonly ProcessState[] = ['failed', 'never_finished', 'silent', 'exceptions', 'firing']

export const toneOf = (state: ProcessState): Tone =>
  BAD.includes(state) ? 'bad' : state === 'overdue' ? 'warn' : 'good'

/** A part of the sentence about everything, with the sign after it. */
export interface Clause {
  readonly text: string
  readonly after: string
  readonly tone: Tone
}

/** The parts of the sentence, so that a page can mark the bad ones; none if there is nothing at all. */
export function clausesOf({ counts, unjudged = 0, failingChannels = 0 }: OverallFacts): Clause[] {
  const found = PROCESS_STATES.flatMap((state) => (counts[state] ? [{ state, n: counts[state] }] : []))
  const others: Omit<Clause, 'after'>[] = [
    ...(unjudged > 0 ? [{ text: uncheckedText(grouped(unjudged), unjudged), tone: 'warn' as const }] : []),
    ...(failingChannels > 0 ? [{ text: `${plural(failingChannels, 'channel')} failing`, tone: 'bad' as const }] : []),
  ]
  const isWhole = others.length === 0 && found.length === 1
  const clauses = [
    ...others,
    ...found.map((one) => ({ text: isWhole ? describeOnly(one) : describeOne(one), tone: toneOf(one.state) })),
  ]
  return clauses.map(({ text, tone }, i) => ({
    text: i === 0 ? `${text.charAt(0).toUpperCase()}${text.slice(1)}` : text,
    after: i === clauses.length - 1 ? '.' : i === others.length - 1 ? '; ' : ', ',
    tone,
  }))
}

/** `1 failed, 2 silent, 196 fine.`, `1 watch could not be checked; 4 fine.`; empty if there is nothing at all. */
export function describeOverall(facts: OverallFacts): Overall {
  const clauses = clausesOf(facts)
  const tone = (['bad', 'warn'] as const).find((it) => clauses.some((clause) => clause.tone === it)) ?? 'good'
  return { sentence: clauses.map(({ text, after }) => text + after).join(''), tone }
}

/** One process among others: `silent`, `fine`. */
export const wordOf = (state: ProcessState): string => PROCESS_STATE_TEXT[state][1]

interface Counted {
  readonly state: ProcessState
  readonly n: number
}

function describeOnly({ state, n }: Counted): string {
  const [, , one, many] = PROCESS_STATE_TEXT[state]
  if (state === 'completed' && n > 1) return `All ${grouped(n)} processes fine`
  return `${plural(n, 'process', 'processes')} ${n === 1 ? one : many}`
}

const describeOne = ({ state, n }: Counted): string => `${grouped(n)} ${wordOf(state)}`

const grouped = (n: number): string => n.toLocaleString('en-US')
const plural = (n: number, one: string, many = `${one}s`): string => `${grouped(n)} ${n === 1 ? one : many}`
