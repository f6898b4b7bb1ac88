// Finds out until when a watch needs no evaluation. Without new marks only time changes the result: the same history
// is judged for an hour later, and the watch is due again when the first episode begins before that.
import type { Instance } from '../conditions/condition.ts'
import type { Episode } from '../rules/episode.ts'
import type { WatchRules } from '../watch.ts'
import type { Judged } from './judge-watch.ts'
import type { Memory } from './memory.ts'
import type { Moment, ReadyWatch } from './moment.ts'

interface Stretch {
  /** All inputs of the judgement except the time. */
  readonly state: string
  readonly untilUs: number
  readonly instances: readonly Instance[]
}

/** Keyed by the rules of a watch, which are rebuilt when it changes. */
export type Quiet = WeakMap<WatchRules, Stretch>

const AHEAD_US = 3600e6

/** `judged` is undefined while the watch is quiet. */
export function judgeUnlessQuiet(
  quiet: Quiet,
  { rules, watch, alerts }: ReadyWatch,
  memory: Memory,
  moment: Moment,
  judge: (at: Moment) => Judged,
) {
  const { blind, pointsKnownUs, exceptionsKnownUs } = moment
  const state = JSON.stringify([
    memory.versionOf(watch.spec.process.includes('*') ? undefined : watch.spec.process),
    [watch.sinceUs, watch.changed],
    [blind.length, blind.at(-1)?.toUs],
    alerts.map(({ id, resolvedUs }) => [id, resolvedUs]),
  ])
  const known = quiet.get(rules)
  if (known?.state === state && pointsKnownUs < known.untilUs)
    return { ...known, judged: undefined, settle: () => known.untilUs }
  const judged = judge(moment)
  const { instances } = judged
  return {
    judged,
    instances,
    untilUs: pointsKnownUs,
    /** Call it when the judgement changed no alert. Returns until when the watch is quiet. */
    settle(): number {
      const ahead = { pointsKnownUs: pointsKnownUs + AHEAD_US, exceptionsKnownUs: exceptionsKnownUs + AHEAD_US }
      const changeUs = firstChangeUs(instances, judge({ ...moment, ...ahead }).instances)
      const excusedUs = instances.flatMap(({ unjudged }) => (unjudged ? [unjudged.sinceUs, unjudged.untilUs] : []))
      const untilUs = Math.min(ahead.pointsKnownUs, changeUs, ...excusedUs.filter((us) => us > pointsKnownUs))
      quiet.set(rules, { state, untilUs, instances })
      return untilUs
    },
  }
}

/** The first start of an episode that `now` does not have; −Infinity if anything else differs. */
function firstChangeUs(now: readonly Instance[], later: readonly Instance[]): number {
  const laterEpisodes = new Map(
    later.map(({ key, episodes }) => [key, new Map(episodes.map((it) => [nameOf(it), it]))]),
  )
  for (const { key, episodes } of now) {
    for (const episode of episodes)
      if (laterEpisodes.get(key)?.delete(nameOf(episode)) !== true) return Number.NEGATIVE_INFINITY
  }
  const fresh = [...laterEpisodes.values()].flatMap((own) => [...own.values()])
  return Math.min(...fresh.map(({ sinceUs }) => sinceUs))
}

const nameOf = ({ sinceUs, untilUs }: Episode): string => `${sinceUs} ${untilUs}`
