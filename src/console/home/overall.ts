// The one sentence about everything: facts → sentence. Pure; the test is a table of facts and their sentences.
import { formatCount, plural } from '../kit/format-number.ts'
import { VERDICTS, type Verdict } from './home-rows.ts'

export interface HomeFacts {
  /** Processes by what their runs, exceptions and alerts say. */
  readonly verdicts: Readonly<Partial<Record<Verdict, number>>>
  /** Alerts that fire and that nobody has acknowledged. */
  readonly firing: number
  /** Alerts that fire and that somebody has acknowledged. */
  readonly acknowledged: number
  /** Checks without a result: a store or Stint itself was away when they were due. */
  readonly unjudged: number
  /** Channels whose last delivery failed, or that are disabled. */
  readonly failingChannels: number
  /** Alerts, channels or exceptions could not be loaded. */
  readonly isPartial?: boolean
}

export interface Overall {
  readonly sentence: string
  readonly tone: 'bad' | 'warn' | 'good'
}

/** Said of a number of processes among other clauses, and as the whole sentence of one or of many. */
const SAID = {
  failed: ['failed', 'failed', 'failed'],
  unfinished: ['never finished', 'never finished', 'never finished'],
  silent: ['silent', 'is silent', 'are silent'],
  exceptions: ['with exceptions', 'has exceptions', 'have exceptions'],
  firing: ['with an alert', 'has an alert', 'have an alert'],
  overdue: ['overdue', 'is overdue', 'are overdue'],
  running: ['running', 'is running', 'are running'],
  fine: ['fine', 'is fine', 'are fine'],
  quiet: ['without runs', 'has no runs', 'have no runs'],
} as const satisfies Record<Verdict, readonly string[]>

const BAD: readonly Verdict[] = ['failed', 'unfinished', 'silent', 'exceptions', 'firing']

/** `2 alerts firing, 1 acknowledged; 3 failed, 1 overdue, 196 fine.`; empty if there is nothing at all. */
export function describeOverall(facts: HomeFacts): Overall {
  const { verdicts, firing, acknowledged, unjudged, failingChannels, isPartial = false } = facts
  const watched = [
    firing > 0 && `${plural(firing, 'alert')} firing`,
    acknowledged > 0 &&
      (firing > 0 ? `${formatCount(acknowledged)} acknowledged` : `${plural(acknowledged, 'alert')} acknowledged`),
    unjudged > 0 && `${plural(unjudged, 'check')} could not be judged`,
    failingChannels > 0 && `${plural(failingChannels, 'channel')} failing`,
    isPartial && 'not everything could be loaded',
  ].filter((text) => text !== false)
  const counts = VERDICTS.flatMap((verdict) => (verdicts[verdict] ? [{ verdict, n: verdicts[verdict] }] : []))
  const isBad = firing > 0 || failingChannels > 0 || counts.some(({ verdict }) => BAD.includes(verdict))
  const isOdd = watched.length > 0 || counts.some(({ verdict }) => verdict === 'overdue')
  const parts = [watched.join(', '), describeProcesses(counts, watched.length === 0)].filter((text) => text !== '')
  const text = parts.join('; ')
  const sentence = text === '' ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
  return { sentence, tone: isBad ? 'bad' : isOdd ? 'warn' : 'good' }
}

interface Counted {
  readonly verdict: Verdict
  readonly n: number
}

function describeProcesses(counts: readonly Counted[], isWhole: boolean): string {
  const [only, second] = counts
  if (only === undefined) return ''
  if (second === undefined && isWhole) {
    const [, one, many] = SAID[only.verdict]
    if (only.verdict === 'fine')
      return only.n === 1 ? 'The only process is fine' : `All ${formatCount(only.n)} processes fine`
    return `${plural(only.n, 'process', 'processes')} ${only.n === 1 ? one : many}`
  }
  return counts.map(({ verdict, n }) => `${formatCount(n)} ${SAID[verdict][0]}`).join(', ')
}
