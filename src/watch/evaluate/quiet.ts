// Until when a watch needs no judgement. Its marks change rarely, and what time alone changes can be foreseen: the same history is judged an hour
// later, and the first episode that begins until then is when the watch must be judged again.
import type { Episode } from '../rules/episode.ts'
import type { WatchRules } from '../watch.ts'
import type { Instance } from './judge-watch.ts'
import type { Memory } from './memory.ts'
import type { Moment, ReadyWatch } from './moment.ts'

interface Stretch {
  /** Everything that the judgement came from but time. */
  readonly state: string
  readonly untilUs: number
}

/** By the rules of a watch, which are built again when it changes. */
export type Quiet = WeakMap<WatchRules, Stretch>

const AHEAD_US = 3600e6

/** `judge` → the instances of the watch at a moment; undefined = quiet. `settle` is called when they changed no alert. */
export function judgeUnlessQuiet(
  quiet: Quiet,
  { rules, watch, alerts }: ReadyWatch,
  memory: Memory,
  moment: Moment,
  judge: (at: Moment) => readonly Instance[],
): { readonly instances: readonly Instance[]; settle(): void } | undefined {
  const { blind, pointsKnownUs, exceptionsKnownUs } = moment
  const state = JSON.stringify([
    memory.versionOf(watch.spec.process.includes('*') ? undefined : watch.spec.process),
    watch.sinceUs,
    [blind.length, blind.at(-1)?.toUs],
    alerts.map(({ id, resolvedUs }) => [id, resolvedUs]),
  ])
  const known = quiet.get(rules)
  if (known?.state === state && pointsKnownUs < known.untilUs) return undefined
  const instances = judge(moment)
  return {
    instances,
    settle() {
      const ahead = { pointsKnownUs: pointsKnownUs + AHEAD_US, exceptionsKnownUs: exceptionsKnownUs + AHEAD_US }
      const untilUs = Math.min(ahead.pointsKnownUs, firstChangeUs(instances, judge({ ...moment, ...ahead })))
      quiet.set(rules, { state, untilUs })
    },
  }
}

/** The first moment at which an episode begins that `now` does not have; −Infinity when something else differs. */
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
