// The answer of a request, event by event: drops those that are refused for good, and returns those to send again.
import type { Unconfirmed } from './declarations/stint.d.ts'
import {
  type Answer,
  correctTime,
  describeAhead,
  describeOutcome,
  isRefusedForTime,
  judgeAnswer,
  newerReading,
} from './judge-answer.ts'
import type { KeptEvents } from './kept-events.ts'
import type { Settings } from './settings.ts'
import { type Item, isMark } from './waiting-items.ts'

export type Drop = (line: string, reason: string, unconfirmed?: Unconfirmed) => void

interface Judged {
  readonly again: readonly Item[]
  /** To send again after a rest: the quota refused them. */
  readonly spent: readonly Item[]
  /** Times were moved to the server's clock: these are sent again at once. */
  readonly isCorrected: boolean
  /** Characters that the corrected events gained. */
  readonly grown: number
}

export function createBatchJudge(
  { keepsEach }: Pick<Settings, 'keepsEach'>,
  kept: KeptEvents | undefined,
  drop: Drop,
  warn: (text: string) => void,
): (items: readonly Item[], answer: Answer) => Judged {
  /** How far our clock is ahead of the server's. */
  let aheadMs: number | undefined

  /** False if our clock is not at fault. */
  function correct(item: Item): boolean {
    const line = item.isCorrected ? undefined : correctTime(item.line, aheadMs)
    if (line === undefined) return false
    item.line = line
    item.isCorrected = true
    warn(describeAhead(aheadMs!))
    return true
  }

  return (items, answer) => {
    aheadMs = newerReading(aheadMs, answer.aheadMs)
    const verdicts = judgeAnswer(answer, items.length)
    const refused: string[] = []
    const spent: Item[] = []
    let isCorrected = false
    let grown = 0
    const again = items.filter((item, i) => {
      const verdict = verdicts[i]!
      if (verdict.is === 'stored') return false
      if (verdict.isSpent && !isMark(item)) {
        spent.push(item)
        return false
      }
      if (verdict.is === 'again' || verdict.isSuspended || (verdict.is === 'waits' && keepsEach)) return true
      const { length } = item.line
      if (isRefusedForTime(verdict) && correct(item)) {
        isCorrected = true
        grown += item.line.length - length
        return true
      }
      if (verdict.is === 'refused') refused.push(item.line)
      drop(item.line, describeOutcome(verdict))
      return false
    })
    if (refused.length > 0 && keepsEach) kept?.refuse(refused)
    return { again, spent, isCorrected, grown }
  }
}
