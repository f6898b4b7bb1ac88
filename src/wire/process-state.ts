// The states of a process, and the one sentence about all of them: Home, `stint status` and the answer of
// GET /api/overview show the same. Free of schemas: it is in the console's bundle.

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

/** Said of a number of processes among other clauses, and as the whole sentence of one or of many. */
const SAID = {
  failed: ['failed', 'failed', 'failed'],
  never_finished: ['never finished', 'never finished', 'never finished'],
  silent: ['silent', 'is silent', 'are silent'],
  exceptions: ['with exceptions', 'has exceptions', 'have exceptions'],
  firing: ['with an alert', 'has an alert', 'have an alert'],
  overdue: ['overdue', 'is overdue', 'are overdue'],
  running: ['running', 'is running', 'are running'],
  completed: ['fine', 'is fine', 'are fine'],
  no_runs: ['without runs', 'has no runs', 'have no runs'],
} as const satisfies Record<ProcessState, readonly string[]>

const BAD: readonly ProcessState[] = ['failed', 'never_finished', 'silent', 'exceptions', 'firing']

export const toneOf = (state: ProcessState): Tone =>
  BAD.includes(state) ? 'bad' : state === 'overdue' ? 'warn' : 'good'

/** `1 failed, 2 silent, 196 fine.`, `1 check could not be judged; 4 fine.`; empty if there is nothing at all. */
export function describeOverall({ counts, unjudged = 0, failingChannels = 0 }: OverallFacts): Overall {
  const found = PROCESS_STATES.flatMap((state) => (counts[state] ? [{ state, n: counts[state] }] : []))
  const others = [
    ...(unjudged > 0 ? [`${plural(unjudged, 'check')} could not be judged`] : []),
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
export const wordOf = (state: ProcessState): string => SAID[state][0]

interface Counted {
  readonly state: ProcessState
  readonly n: number
}

function describeProcesses(counts: readonly Counted[], isWhole: boolean): string {
  const [only, second] = counts
  if (only === undefined) return ''
  if (second === undefined && isWhole) {
    const [, one, many] = SAID[only.state]
    if (only.state === 'completed' && only.n > 1) return `All ${grouped(only.n)} processes fine`
    return `${plural(only.n, 'process', 'processes')} ${only.n === 1 ? one : many}`
  }
  return counts.map(({ state, n }) => `${grouped(n)} ${SAID[state][0]}`).join(', ')
}

const grouped = (n: number): string => n.toLocaleString('en-US')
const plural = (n: number, one: string, many = `${one}s`): string => `${grouped(n)} ${n === 1 ? one : many}`
