// Which accounts could not be judged lately: a store does not answer, or accepted events wait to be stored.
import type { Logger } from '../../log.ts'
import type { AccountState } from './account-state.ts'

/** What was not judged for this long is reported as unknown. */
const UNKNOWN_AFTER_US = 60e6

interface Options {
  nowUs(): number
  monotonicUs(): number
  oldestUnstoredUs(): { readonly points: number | undefined }
  readonly log: Logger
}

export function createUnknown(
  accounts: ReadonlyMap<string, AccountState>,
  { nowUs, monotonicUs, oldestUnstoredUs, log }: Options,
) {
  let isAny = false
  /** What was accepted a minute ago is not stored. */
  const isBehind = () => nowUs() - (oldestUnstoredUs().points ?? nowUs()) > UNKNOWN_AFTER_US
  const isUnknown = ({ badSinceUs }: AccountState) =>
    badSinceUs !== undefined && monotonicUs() - badSinceUs > UNKNOWN_AFTER_US
  function names(): string[] {
    const behind = isBehind()
    return [...accounts].filter(([, state]) => behind || isUnknown(state)).map(([account]) => account)
  }
  return {
    names,
    isAllGood: () => !isBehind() && [...accounts.values()].every((state) => state.isGood && !isUnknown(state)),
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
