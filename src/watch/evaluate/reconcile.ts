// Episodes against the alerts that are stored: which begin, which end. An alert and an episode belong together when they overlap, so late events
// that move an episode's beginning change nothing, and a dismissed alert does not fire again while its episode lasts.
import type { Episode } from '../rules/episode.ts'
import type { Alert } from '../storage/watch-store.ts'

export interface Differences {
  readonly begun: readonly Episode[]
  readonly ended: readonly { readonly alert: Alert; readonly untilUs: number; readonly episode?: Episode }[]
}

/**
 * Of one instance. Episodes that were over by `floorUs` and have no alert are past and reported to nobody. `knownUs` is the end of an alert whose
 * condition has no episode any more.
 */
export function reconcile(
  alerts: readonly Alert[],
  episodes: readonly Episode[],
  { floorUs, knownUs }: { readonly floorUs: number; readonly knownUs: number },
): Differences {
  const ended = alerts
    .filter(({ resolvedUs }) => resolvedUs === null)
    .flatMap((alert) => {
      const episode = episodes.find((it) => (it.untilUs ?? Number.POSITIVE_INFINITY) > alert.sinceUs)
      if (episode === undefined) return [{ alert, untilUs: Math.max(knownUs, alert.sinceUs) }]
      return episode.untilUs === undefined ? [] : [{ alert, untilUs: episode.untilUs, episode }]
    })
  const endOf = new Map(ended.map(({ alert, untilUs }) => [alert, untilUs]))
  const begun = episodes.filter((episode) => {
    if (episode.untilUs !== undefined && episode.untilUs <= floorUs) return false
    return !alerts.some((alert) => {
      const resolvedUs = alert.resolvedUs ?? endOf.get(alert) ?? Number.POSITIVE_INFINITY
      return episode.sinceUs < resolvedUs && (episode.untilUs ?? Number.POSITIVE_INFINITY) > alert.sinceUs
    })
  })
  return { begun, ended }
}
