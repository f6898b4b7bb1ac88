// The alerts that fire, and the changes of them. Invariants:
// * Two alerts of one instance never fire at the same time.
// * An alert opens once: its identity is compared with those that are stored, and with those on their way there.
import type { Change, Facts, JudgedAlert, JudgeOptions } from './judge-interface.ts'

export const keyOf = (...parts: readonly (string | number)[]): string => JSON.stringify(parts)

export type Firing = ReturnType<typeof createFiring>

interface FiringOptions extends Pick<JudgeOptions, 'emit' | 'isKnown'> {
  /** Nothing of this account opens. */
  isSuspended(account: string): boolean
}

export function createFiring({ emit, isKnown, isSuspended }: FiringOptions) {
  /** By watch and instance. */
  const firing = new Map<string, Map<string, JudgedAlert>>()
  /** Not stored yet, as far as is known here. */
  let opened = new Set<string>()
  let openedBefore = new Set<string>()
  let changes = 0
  let isMuted = false

  const change = (it: Change): void => {
    changes++
    emit(it)
  }

  return {
    /** Changes since the last `take`. */
    changes: () => changes,
    take(): void {
      openedBefore = opened
      opened = new Set()
      changes = 0
    },
    /** It was not stored, and may open again. */
    omit(watch: string, identity: string): void {
      opened.delete(keyOf(watch, identity))
      openedBefore.delete(keyOf(watch, identity))
    },
    find: (watch: string, instance: string): JudgedAlert | undefined => firing.get(watch)?.get(instance),
    /** Replaces what is known of a watch. */
    set(watch: string, alerts: readonly JudgedAlert[]): void {
      if (alerts.length === 0) firing.delete(watch)
      else firing.set(watch, new Map(alerts.map((alert) => [alert.instance, alert])))
    },
    of: (watch: string): Iterable<JudgedAlert> => firing.get(watch)?.values() ?? [],
    /** False: it fires, or there was an alert about it. `untilUs`: it is over; `isApart`: whatever fires now. */
    open(
      account: string,
      alert: JudgedAlert,
      facts: Facts,
      { isApart = false, ...more }: { untilUs?: number; awaitsUs?: number; isApart?: boolean } = {},
    ): boolean {
      const { watch, instance, identity } = alert
      const own = firing.get(watch)
      const name = keyOf(watch, identity)
      if (
        isMuted ||
        isSuspended(account) ||
        (!isApart && own?.has(instance)) ||
        opened.has(name) ||
        openedBefore.has(name) ||
        isKnown(watch, identity)
      )
        return false
      opened.add(name)
      if (more.untilUs === undefined) {
        if (own === undefined) firing.set(watch, new Map([[instance, alert]]))
        else own.set(instance, alert)
      }
      change({ kind: 'open', account, alert, facts, ...more })
      return true
    },
    end(
      account: string,
      alert: JudgedAlert,
      facts: Facts,
      { atUs, endedBy = 'event', ended = {} }: { atUs: number; endedBy?: 'event' | 'expired'; ended?: Ended },
    ): void {
      if (firing.get(alert.watch)?.get(alert.instance) !== alert) return
      firing.get(alert.watch)!.delete(alert.instance)
      const untilUs = Math.max(atUs, alert.episode.sinceUs)
      change({ kind: 'end', account, alert, facts, untilUs, endedBy, ended: { ...alert.episode, ...ended } })
    },
    /** Opens nothing meanwhile. */
    muted<T>(flag: boolean, work: () => T): T {
      isMuted = flag
      try {
        return work()
      } finally {
        isMuted = false
      }
    },
    explain(account: string, alert: JudgedAlert, facts: Facts): void {
      change({ kind: 'explain', account, alert, facts })
    },
  }
}

/** What is known of an episode only at its end. */
export type Ended = Partial<Pick<JudgedAlert['episode'], 'figure' | 'endedAs'>>
