// An account that the operator suspended sends nothing: that time is a downtime of its own until it is resumed. Nothing
// of it fires meanwhile; what fell due is waited for once more after it, as after every downtime.
import { type Downtime, OPEN_US, SETTLES_US } from '../log/episode.ts'

/** Accounts that the operator suspended, as this room needs them. Times are µs since the epoch. */
export interface Suspensions {
  /** The newest one of each account. `toUs` undefined: it lasts. */
  all(): Iterable<Suspension>
  /** Since when the account is suspended; undefined: it is not. */
  sinceUs(account: string): number | undefined
}

interface Suspension {
  readonly account: string
  readonly fromUs: number
  readonly toUs: number | undefined
}

export function createSuspendedAccounts(
  suspensions: Pick<Suspensions, 'all'> | undefined,
  engine: { addDowntime(downtime: Downtime): void; hurry(account: string): void },
) {
  const noted = new Map<string, Suspension>()
  return {
    /** Call it before each judgement. */
    notice(): void {
      const known = new Set<string>()
      for (const it of suspensions?.all() ?? []) {
        const { account, fromUs, toUs } = it
        known.add(account)
        const last = noted.get(account)
        if (last?.fromUs === fromUs && last.toUs === toUs) continue
        noted.set(account, it)
        // that one ended and this one began between two looks
        if (last !== undefined && last.toUs === undefined && last.fromUs !== fromUs)
          engine.addDowntime({ account, fromUs: last.fromUs, toUs: fromUs })
        if (toUs === undefined) engine.addDowntime({ account, fromUs, toUs: OPEN_US, isSuspended: true })
        else {
          engine.addDowntime({ account, fromUs, toUs: toUs + SETTLES_US })
          engine.hurry(account) // what waited for it is due earlier now
        }
      }
      for (const { account, fromUs } of noted.values()) {
        if (known.has(account)) continue
        // the database was restored, or the account is gone
        noted.delete(account)
        engine.addDowntime({ account, fromUs, toUs: fromUs })
        engine.hurry(account)
      }
    },
  }
}
