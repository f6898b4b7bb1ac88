// When events of an account were refused although Stint ran: its quota was spent, its share of the spool or of the dead
// letters was full, or it had sent the most while the disk was nearly full. Its watches wait for what may be missing,
// as after a downtime. Invariants:
// * A refusal is noted before its answer is sent, so what is judged up to a time knows of all refusals until then.
// * A stretch lasts while the account would be refused. It ends when nothing was refused for five minutes: one that
//   comes and goes is one stretch.
import type { Inputs } from '../engine/engine-state.ts'
import { type RefusedTime, SETTLES_US } from '../log/episode.ts'

export type FedInputs = Inputs & {
  /** When events of accounts were refused, as far as it is new: everything that matters until `knownUs`. */
  refused(): readonly RefusedTime[]
}

/** The judge hears of refusals before it judges what came after them. */
export const hearRefusals = (inputs: FedInputs, hear: (time: RefusedTime) => void): Inputs => ({
  ...inputs,
  async read() {
    const isMore = await inputs.read()
    for (const time of inputs.refused()) hear(time)
    return isMore
  },
})

export type RefusedTimes = ReturnType<typeof createRefusedTimes>

const ENDS_AFTER_US = 300e6

interface RefusedTimesOptions {
  /** Would a start or an end of it be refused? */
  isRefused(account: string): boolean
  /** The stamp clock. */
  nowUs(): number
}

export function createRefusedTimes({ isRefused, nowUs }: RefusedTimesOptions) {
  const open = new Map<string, { readonly fromUs: number; toUs: number }>()
  return {
    /** An event of the account is refused now. */
    note(account: string): void {
      const now = nowUs()
      const known = open.get(account)
      if (known === undefined) open.set(account, { fromUs: now, toUs: now })
      else known.toUs = now
    },
    /** The stretches of these accounts that last, or have ended since the last call. */
    take(isAsked: (account: string) => boolean): RefusedTime[] {
      const now = nowUs()
      const times: RefusedTime[] = []
      for (const [account, time] of open) {
        if (isRefused(account)) time.toUs = now
        else if (now - time.toUs > ENDS_AFTER_US) open.delete(account)
        const [fromUs, toUs] = [Math.floor(time.fromUs), Math.floor(time.toUs + SETTLES_US)]
        if (isAsked(account)) times.push({ account, fromUs, toUs })
      }
      return times
    },
  }
}
