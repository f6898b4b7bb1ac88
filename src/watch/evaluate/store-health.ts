// Whether the stores answer the evaluation's questions, and since when they do not. Every question passes through here,
// and a small one is asked when no other was answered lately, so an outage is noticed without events. While a store is
// out, one question at a time tries it and all others fail at once: they would delay what other stores can answer.
import type { WatchSource } from './watch-source.ts'

export type Asked = 'marks' | 'exceptions' | 'metrics'

const PROBE_EVERY_US = 15e6
/** Without an answer for this long a store is out. */
const OUT_AFTER_US = 20e6
const TRY_EVERY_US = 5e6
/** An evaluation asks several questions at a time. */
const TOGETHER_US = 5e3

const fresh = () => ({
  /** Monotonic: the last answer, and the first question after it that has none. */
  answeredUs: Number.NEGATIVE_INFINITY,
  sinceUs: undefined as number | undefined,
  askedUs: Number.NEGATIVE_INFINITY,
  /** Its last question failed. */
  hasFailed: false,
})

type Health = ReturnType<typeof fresh>

export function createStoreHealth(source: WatchSource, nowUs: () => number, monotonicUs: () => number) {
  const none = (): Readonly<Record<Asked, Health>> => ({ marks: fresh(), exceptions: fresh(), metrics: fresh() })
  let healths = none()

  async function ask<T>(asked: Asked, question: () => Promise<T>): Promise<T> {
    const health = healths[asked]
    const began = monotonicUs()
    const isOut = health.sinceUs !== undefined && began - health.sinceUs > OUT_AFTER_US
    const sinceAskedUs = began - health.askedUs
    if (isOut && sinceAskedUs > TOGETHER_US && sinceAskedUs < TRY_EVERY_US)
      throw new Error('the store has not answered for a while')
    if (sinceAskedUs > TOGETHER_US) health.askedUs = began
    health.sinceUs ??= began
    try {
      const answer = await question()
      health.answeredUs = monotonicUs()
      health.sinceUs = undefined
      health.hasFailed = false
      return answer
    } catch (error) {
      health.sinceUs ??= began
      health.hasFailed = true
      throw error
    }
  }

  const watched: WatchSource = {
    findMarks: (q) => ask('marks', () => source.findMarks(q)),
    findNewestStarts: (q) => ask('marks', () => source.findNewestStarts(q)),
    findExceptions: (q) => ask('exceptions', () => source.findExceptions(q)),
    aggregateMetrics: (q) => ask('metrics', () => source.aggregateMetrics(q)),
  }

  return {
    source: watched,
    /** Since when its questions have had no answer, monotonic. */
    silentSinceUs: (asked: Asked): number | undefined => healths[asked].sinceUs,
    isFailing: (): boolean => Object.values(healths).some(({ hasFailed }) => hasFailed),
    /**
     * Asks what was not asked lately, and metrics while they fail, about any account. Does not wait for the answers.
     * Without an account no store has a fault.
     */
    probe(account: string | undefined): void {
      if (account === undefined) {
        healths = none()
        return
      }
      const now = nowUs()
      const q = { account, fromUs: now - 1e6, toUs: now, maxRows: 1 }
      const isDue = ({ answeredUs, askedUs }: Health) => monotonicUs() - Math.max(answeredUs, askedUs) >= PROBE_EVERY_US
      if (isDue(healths.marks)) watched.findMarks(q).catch(() => {})
      if (isDue(healths.exceptions)) watched.findExceptions(q).catch(() => {})
      if (healths.metrics.sinceUs !== undefined && isDue(healths.metrics)) watched.aggregateMetrics(q).catch(() => {})
    },
  }
}
