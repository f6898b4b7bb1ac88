// What cannot be judged at present, since when and why: a store does not answer, accepted events wait to be stored, or
// a silent node may hold starts. A gap of a minute makes the watches that it concerns unknown.
import type { Logger } from '../../log.ts'
import type { Condition } from '../../wire/conditions.ts'
import { CONDITIONS, type ConditionRules, ruled } from '../conditions/conditions.ts'
import type { WatchRules } from '../watch.ts'
import type { Asked, createStoreHealth } from './store-health.ts'

/** What is missing. `points`: marks and metrics; `starts`: those that a silent node may hold; `all`: no node judges. */
export type Missing = Asked | 'points' | 'starts' | 'all'

export interface Gap {
  /** Absent: it concerns every account. */
  readonly account?: string
  readonly missing: Missing
  readonly sinceUs: number
  readonly reason: string
}

/** The part of an account's state that is about gaps. */
export const createGapState = () => ({
  /** Built once per version of a watch: parsing cron expressions is expensive. */
  rules: new Map() as ReadonlyMap<string, { readonly text: string; readonly rules: WatchRules }>,
  /** What the last evaluation lacked, and since when; monotonic. */
  gaps: new Map() as ReadonlyMap<Asked | 'starts', { readonly sinceUs: number; readonly reason: string }>,
  /** When the last evaluation that lacked nothing began; monotonic. */
  goodUs: Number.NEGATIVE_INFINITY,
  /** Why the last evaluation was not complete. */
  fault: undefined as unknown,
})

export type GapState = ReturnType<typeof createGapState>

/** Another node without a recent heartbeat. */
export interface SilentNode {
  readonly node: number
  readonly seenUs: number
}

const WAITING = 'accepted events wait to be stored'
const REASONS: Readonly<Record<Asked | 'starts', string>> = {
  marks: 'the store of runs does not answer questions about them',
  exceptions: 'the store of exceptions does not answer questions about them',
  metrics: 'the store of metrics does not answer questions about them',
  starts: 'a silent node may hold starts that are not stored',
}

/** A shorter gap delays judgement and is not shown. */
const SHOWN_AFTER_US = 60e6
/** What begins within this time of a start was there before it. */
const AT_START_US = 60e6

/** A gap that the evaluation before had, too, keeps its beginning. */
export function noteGaps(
  state: GapState,
  faults: ReadonlyMap<Asked | 'starts', unknown>,
  isWaiting: boolean,
  beganUs: number,
): void {
  const lacking = [...faults.keys(), ...(isWaiting && !faults.has('marks') ? (['marks'] as const) : [])]
  const sinceUs = (missing: Asked | 'starts') => state.gaps.get(missing)?.sinceUs ?? beganUs
  state.gaps = new Map(
    lacking.map((it) => [it, { sinceUs: sinceUs(it), reason: faults.has(it) ? REASONS[it] : WAITING }]),
  )
  const [first] = faults.values()
  state.fault = first ?? (isWaiting ? new Error(WAITING) : undefined)
  if (lacking.length === 0) state.goodUs = beganUs
}

/** The conditions of a watch that a gap concerns. */
export const concerned = (rules: ConditionRules, missing: Missing): Condition[] =>
  ruled(rules).flatMap(([name, rule]) => {
    const { reads, needs } = CONDITIONS[name]
    const lacking: readonly Missing[] = ['all', 'points', reads, ...(needs?.(rule as never) ?? [])]
    return lacking.includes(missing) ? [name] : []
  })

interface Options {
  nowUs(): number
  monotonicUs(): number
  oldestUnstoredUs(): { readonly points: number | undefined; readonly exceptions: number | undefined }
  silent?(): readonly SilentNode[]
  readonly health: Pick<ReturnType<typeof createStoreHealth>, 'silentSinceUs' | 'isFailing'>
  readonly log: Logger
}

export function createGaps(accounts: ReadonlyMap<string, GapState>, options: Options) {
  const { nowUs, monotonicUs, oldestUnstoredUs, health, log } = options
  let isAny = false
  const bornUs = nowUs()
  /** By account: since when an earlier process noted that its watches are not judged. */
  let inherited: ReadonlyMap<string, number> = new Map()
  const isShown = ({ sinceUs }: Gap) => nowUs() - sinceUs > SHOWN_AFTER_US
  /** A monotonic time on the wall clock, in whole µs. */
  const wallUs = (us: number) => Math.round(nowUs() - (monotonicUs() - us))

  function ofAll(): Gap[] {
    const { points, exceptions } = oldestUnstoredUs()
    const since: [Exclude<Missing, 'all'>, number | undefined, reason?: string][] = [
      ['points', points, WAITING],
      ['exceptions', exceptions, WAITING],
      ...(['marks', 'exceptions', 'metrics'] as const).map((asked): [Asked, number | undefined] => {
        const us = health.silentSinceUs(asked)
        return [asked, us === undefined ? undefined : wallUs(us)]
      }),
      ...(options.silent?.() ?? []).map(({ seenUs }): ['starts', number] => ['starts', seenUs]),
    ]
    return since
      .flatMap(([missing, sinceUs, reason = REASONS[missing as Asked]]) =>
        sinceUs === undefined ? [] : [{ missing, sinceUs, reason }],
      )
      .filter(isShown)
  }

  const ofAccount = (account: string, { gaps }: GapState): Gap[] =>
    gaps.size === 0
      ? []
      : [...gaps].map(([missing, gap]) => ({ ...gap, account, missing, sinceUs: wallUs(gap.sinceUs) })).filter(isShown)

  /** A gap that was there at the start began when it was noted; a node's last heartbeat is known as it is. */
  const continued = (account: string, gap: Gap): Gap => {
    const wasThere = gap.missing !== 'starts' && gap.sinceUs <= bornUs + AT_START_US
    const notedUs = (wasThere && inherited.get(account)) || gap.sinceUs
    return { ...gap, account, sinceUs: Math.min(gap.sinceUs, notedUs) }
  }

  /** Those that concern everyone first. */
  function list(): Gap[] {
    const all = ofAll()
    const ofInherited = [...inherited.keys()].flatMap((account) => all.map((gap) => continued(account, gap)))
    const own = [...accounts].flatMap(([account, state]) =>
      ofAccount(account, state).map((gap) => continued(account, gap)),
    )
    return [...all, ...own, ...ofInherited] // other nodes get the first ones only
  }

  const isActive = ({ pausedUntilUs = 0 }: WatchRules) => pausedUntilUs <= nowUs()

  /** Accounts with a watch that a gap concerns. */
  function names(): string[] {
    const all = ofAll()
    return [...accounts].flatMap(([account, state]) => {
      const gaps = [...all, ...ofAccount(account, state)]
      const isConcerned = ({ missing }: Gap) =>
        [...state.rules.values()].some(({ rules }) => isActive(rules) && concerned(rules, missing).length > 0)
      return gaps.some(isConcerned) ? [account] : []
    })
  }

  return {
    list,
    inherit(sinceUs: ReadonlyMap<string, number>): void {
      inherited = sinceUs
    },
    names,
    isAllGood: (): boolean => !health.isFailing() && names().length === 0,
    /** Logs when the first account becomes unknown and when the last one is known again. */
    step(): void {
      const found = names()
      if (found.length > 0 && !isAny) {
        const { fault } = accounts.get(found[0]!)!
        log.warn({ err: fault, accounts: found.length }, 'watches cannot be judged; they stay as they are')
      } else if (found.length === 0 && isAny) log.info('all watches are judged again')
      isAny = found.length > 0
    },
  }
}
