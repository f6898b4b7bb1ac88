// The states of a process, and the one sentence about all of them: Home, `stint status` and the answer of
// GET /api/overview show the same. Free of schemas: it is in the console's bundle.
import { PROCESS_STATE_TEXT, uncheckedText } from './words.ts'

/**
 * Worst first; the worst of its metas is the state of a process. `silent`: no start for longer than it ever paused, or a
 * watch says that it is late. `firing`: only an alert says so. `overdue`: it runs, twice as long as usual.
 * `completed`: nothing is wrong. `no_runs`: it sends metrics or exceptions alone.
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

/** `1 failed, 2 silent, 196 fine.`, `1 watch could not be checked; 4 fine.`; empty if there is nothing at all. */
export function describeOverall({ counts, unjudged = 0, failingChannels = 0 }: OverallFacts): Overall {
  const found = PROCESS_STATES.flatMap((state) => (counts[state] ? [{ state, n: counts[state] }] : []))
  const others = [
    ...(unjudged > 0 ? [uncheckedText(grouped(unjudged), unjudged)] : []),
    ...(failingChannels > 0 ? [`${plural(failingChannels, 'channel')} failing`] : []),
  ]
  const tones = found.map(({ state }) => toneOf(state))
  const isBad = failingChannels > 0 || tones.includes('bad')
  const isOdd = unjudged > 0 || tones.includes('warn')
  const text = [others.join(', '), describeProcesses(found, others.length === 0)].filter((it) => it !== '').join('; ')
  const sentence = text === '' ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
  return { sentence, tone: isBad ? 'bad' : isOdd ? 'warn' : 'good' }
}

/** One process among others: `silent`, `fine`. */
export const wordOf = (state: ProcessState): string => PROCESS_STATE_TEXT[state][1]

interface Counted {
  readonly state: ProcessState
  readonly n: number
}

function describeProcesses(counts: readonly Counted[], isWhole: boolean): string {
  const [only, second] = counts
  if (only === undefined) return ''
  if (second === undefined && isWhole) {
    const [, , one, many] = PROCESS_STATE_TEXT[only.state]
    if (only.state === 'completed' && only.n > 1) return `All ${grouped(only.n)} processes fine`
    return `${plural(only.n, 'process', 'processes')} ${only.n === 1 ? one : many}`
  }
  return counts.map(({ state, n }) => `${grouped(n)} ${wordOf(state)}`).join(', ')
}

const grouped = (n: number): string => n.toLocaleString('en-US')
const plural = (n: number, one: string, many = `${one}s`): string => `${grouped(n)} ${n === 1 ? one : many}`
