// Reads from the stores what other nodes have stored since an account was read, once those nodes say so. Until then no
// more is known than at the last reading.
import type { Folding } from './account.ts'
import type { BaseSources } from './base.ts'
import { foldStored } from './build.ts'
import type { Held } from './held-accounts.ts'
import { type OtherNodes, readSince } from './other-nodes.ts'

interface AskOthersOptions {
  readonly others: OtherNodes
  readonly sources: BaseSources
  readonly folding: Folding
  nowUs(): number
  inTurn<T>(account: string, work: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** The whole account. */
  read(one: Held): Promise<void>
}

/** The least time between two readings. */
const RETRY_US = 2e6
/** An account that is known to an earlier time waits for the other nodes, at most OTHERS_MS. */
const FRESH_US = 5e6
const OTHERS_MS = 2_000

export function createAskOthers({ others, sources, folding, nowUs, inTurn, read }: AskOthersOptions) {
  const isBehind = (one: Held): boolean => others.stateOf(one.account.name) !== one.othersSeen

  /** What other nodes have stored since; one question at a time. */
  function ask(one: Held): Promise<void> | undefined {
    if (one.othersAsking !== undefined || one.reading !== undefined) return one.othersAsking
    if (!isBehind(one) || nowUs() - one.othersAskedUs < RETRY_US) return undefined
    one.othersAskedUs = nowUs()
    one.othersAsking = readOthers(one).finally(() => {
      one.othersAsking = undefined
    })
    return one.othersAsking
  }

  async function readOthers(one: Held): Promise<void> {
    const { name } = one.account
    const [othersSeen, othersKnownUs] = [others.stateOf(name), others.knownUs()]
    const sinceUs = others.sinceUs(name, one.othersSeen ?? '{}', one.othersKnownUs)
    if (sinceUs === undefined) return read(one)
    const work = (signal: AbortSignal) => readSince(sources, { account: name, sinceUs, nowUs: nowUs(), signal })
    const news = await inTurn(name, work)
    if (news === undefined) return read(one)
    Object.assign(one, { othersSeen, othersKnownUs })
    foldStored(one.account, news, folding)
  }

  /** Everything that arrived earlier at other nodes is in the account. */
  function knownUs(one: Held): number {
    return isBehind(one) ? Math.min(others.knownUs(), one.othersKnownUs) : others.knownUs()
  }

  return {
    isBehind,
    ask,
    knownUs,
    /** Waits for a reading, at most OTHERS_MS, if the account is older than FRESH_US. */
    async await(one: Held): Promise<void> {
      const asking = nowUs() - knownUs(one) > FRESH_US ? ask(one) : undefined
      if (asking === undefined) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, OTHERS_MS)
      asking.then(resolve, () => resolve()) // its age says so
      await promise
      clearTimeout(timer)
    },
  }
}
