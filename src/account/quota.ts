// QUOTA_BYTES: what an account may send to a node in 24 hours. The last tenth of it is for starts and ends, so that an
// account that sends too many metrics or exceptions hears of it before its watches lose what they need. An end and its
// output are one.
import { Problem } from '../problem.ts'
import type { Use } from './use.ts'

/** The part of the quota for everything but starts and ends. */
const OTHERS_PART = 0.9
/** From here on an account is warned. */
const WARNED_PART = 0.8
/** curl obeys it, and a job that pings must not wait for hours. */
const LONGEST_RETRY_S = 300

export interface QuotaNotice {
  /** 100: something is refused. */
  readonly level: 80 | 100
  readonly text: string
}

export type Quota = ReturnType<typeof createQuota>

interface QuotaOptions {
  /** 0: none. */
  readonly limitBytes: number
  readonly use: Pick<Use, 'bytesOf' | 'fallsBelowUs'>
  /** Bytes that wait for the disk, of all spools. */
  waitingBytesOf(account: string): number
  /** A start or an end of the account is refused. */
  onRefused(account: string): void
  /** The wall clock. */
  nowUs(): number
}

export function createQuota({ limitBytes, use, waitingBytesOf, onRefused, nowUs }: QuotaOptions) {
  const othersBytes = limitBytes * OTHERS_PART

  /** Is there no room for another event? `isMark`: a start or an end. */
  const isSpent = (account: string, isMark: boolean): boolean =>
    limitBytes > 0 && use.bytesOf(account) + waitingBytesOf(account) >= (isMark ? limitBytes : othersBytes)

  /** When the account may send again. */
  const endUs = (account: string, isMark: boolean) => use.fallsBelowUs(account, isMark ? limitBytes : othersBytes)

  return {
    limitBytes,
    isSpent,
    /** Why an event of the account is not taken now; undefined if it is. */
    refusal(account: string, isMark: boolean): Problem | undefined {
      if (!isSpent(account, isMark)) return undefined
      if (isMark) onRefused(account)
      const us = endUs(account, isMark)
      const retryAfterS = Math.min(LONGEST_RETRY_S, Math.max(1, Math.ceil((us - nowUs()) / 1e6)))
      const allowed = `the ${limitBytes} bytes that it may send in 24 hours`
      const sent = isMark ? allowed : `nine tenths of ${allowed}, and the rest is for starts and ends`
      const detail = `This account has sent ${sent}; it may send again from ${toMinute(us)}.`
      return new Problem('quota_spent', detail, { retryAfterS })
    },
    /** The warning for the account's people, from 80 % on. */
    notice(account: string): QuotaNotice | undefined {
      const bytes = use.bytesOf(account)
      if (limitBytes === 0 || bytes < limitBytes * WARNED_PART) return undefined
      const percent = Math.floor((100 * bytes) / limitBytes)
      const sent = `This account has sent ${percent} % of the bytes that it may send in 24 hours`
      if (!isSpent(account, false)) return { level: 80, text: `${sent}.` }
      const isAll = isSpent(account, true)
      const what = isAll ? 'all its events are refused' : 'all but its starts and ends are refused'
      return { level: 100, text: `${sent}: ${what} until ${toMinute(endUs(account, isAll))}.` }
    },
  }
}

/**
 * The first full minute then or later: `2026-11-29 10:00 UTC`. The hours of the count end with the clock's but for what
 * two readings of it differ by.
 */
const toMinute = (us: number): string =>
  `${new Date(Math.ceil((us - 1e6) / 60e6) * 60_000).toISOString().slice(0, 16).replace('T', ' ')} UTC`
