// The duty of judging, as far as this node has it: the lease, and the work that runs under it. Invariants:
// * `isHeld` is false before the lease can expire in PostgreSQL, even if this process was suspended.
// * The duty has ended completely before the lease is requested again.
import type { Logger } from '../../log.ts'
import type { SqlDatabase } from '../../state/database.ts'
import { LEASE_US, releaseLease } from './node-table.ts'

/** The lease counts as lost this long before it expires. */
const MARGIN_US = 3e6

interface Clocks {
  nowUs(): number
  monotonicUs(): number
}

export interface Moment {
  readonly wallUs: number
  readonly monotonicUs: number
}

export interface LeaseOptions extends Clocks {
  readonly database: SqlDatabase
  /** NODE_ID. */
  readonly node: number
  /** Starts judging and delivering with this token; resolves to a function that stops both. */
  takeDuty(token: number): Promise<() => Promise<void>>
  readonly log: Logger
}

interface Duty {
  readonly token: number
  end(): Promise<void>
  /** When the lease was last requested with success. */
  renewed: Moment
  ending?: Promise<void>
}

export const readClocks = ({ nowUs, monotonicUs }: Clocks): Moment => ({
  wallUs: nowUs(),
  monotonicUs: monotonicUs(),
})

/** Neither a clock that is set back nor a suspended machine makes it too small. */
export const elapsedUs = ({ nowUs, monotonicUs }: Clocks, then: Moment): number =>
  Math.max(nowUs() - then.wallUs, monotonicUs() - then.monotonicUs)

export function createDutyLease(options: LeaseOptions) {
  const { database, node, log } = options
  let duty: Duty | undefined

  const isHeld = () =>
    duty !== undefined && duty.ending === undefined && elapsedUs(options, duty.renewed) < LEASE_US - MARGIN_US

  const release = (token: number) => database.write(() => releaseLease(token)).catch(() => {}) // it expires

  async function begin(token: number, renewed: Moment): Promise<void> {
    duty = { token, renewed, end: async () => {} }
    try {
      duty = { token, renewed, end: await options.takeDuty(token) }
      log.info({ node }, 'this node judges the watches')
    } catch (err) {
      duty = undefined
      log.warn({ err }, 'the watches could not be checked here; trying again')
      await release(token)
    }
  }

  function end(): void {
    if (duty === undefined || duty.ending !== undefined) return
    const ended = duty
    log.warn({ node }, 'this node no longer judges the watches')
    ended.ending = ended
      .end()
      .catch((err: unknown) => log.error({ err }, 'judging the watches did not end as it should'))
      .finally(() => {
        if (duty === ended) duty = undefined
      })
  }

  return {
    isHeld,
    /** The token to request the lease with, −1 for none, and whether it may be requested. */
    request: () => ({ token: duty?.token ?? -1, mayHold: duty?.ending === undefined }),
    /** What PostgreSQL said to a request: renews, begins or ends the duty. */
    async settle(token: number | undefined, asked: Moment): Promise<void> {
      if (token !== undefined && token === duty?.token) duty.renewed = asked
      else if (duty !== undefined) end()
      else if (token !== undefined) await begin(token, asked)
    },
    /** Ends the duty; the lease is requested again. */
    end,
    /** Ends the duty and hands the lease over. */
    async leave(): Promise<void> {
      const ended = duty
      end()
      await ended?.ending
      if (ended !== undefined) await release(ended.token)
    },
  }
}
