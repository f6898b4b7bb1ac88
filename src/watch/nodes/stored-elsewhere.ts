// What the nodes say to each other about what they have stored, with their heartbeats: up to when everything is in the
// stores, and of accounts that somebody looks at on another node how often something was stored, and from when on.
import type { NodeReport, StoredNews } from './node-table.ts'

/** What this node says about itself. */
interface StoredHere {
  /** What arrived before is in the stores. */
  storedUs(): number
  /** Of these accounts, which are looked at elsewhere. */
  newsOf(accounts: readonly string[]): Readonly<Record<string, StoredNews>>
}

interface Reported {
  readonly node: number
  readonly seenUs: number
  readonly report: NodeReport
}

interface StoredElsewhereOptions {
  /** The other nodes that were heard of within an hour. */
  reports(): readonly Reported[]
  nowUs(): number
}

export type StoredElsewhere = ReturnType<typeof createStoredElsewhere>

const LOOKED_MAX = 100
/** A node of 2.0 does not say what it stores: its events are in the stores within this time while they are up. */
const FORMER_US = 4e6
const FORMER_EVERY_US = 2e6
const FORMER_BACK_US = 15e6

export function createStoredElsewhere({ reports, nowUs }: StoredElsewhereOptions) {
  let looked: readonly string[] = []
  let here: StoredHere | undefined
  const formerTurn = (): number => Math.floor(nowUs() / FORMER_EVERY_US)

  const countsOf = (account: string): Record<string, number> =>
    Object.fromEntries(
      reports().flatMap(({ node, report: { stored } }) => {
        if (stored === undefined) return [[node, formerTurn()]]
        const last = stored.news[account]?.at(-1)
        return last === undefined ? [] : [[node, last[0]]]
      }),
    )

  return {
    isAlone: false,
    /** What the others are to say something about, newest last. */
    look(accounts: Iterable<string>): void {
      looked = [...accounts].slice(-LOOKED_MAX)
    },
    serve(source: StoredHere): void {
      here = source
    },
    /** What this node says with its heartbeat. */
    report(): NonNullable<NodeReport['stored']> | undefined {
      if (here === undefined) return undefined
      const wanted = new Set(reports().flatMap(({ report: { stored } }) => stored?.looked ?? []))
      return { us: here.storedUs(), looked, news: here.newsOf([...wanted]) }
    },
    /** What arrived before at any other node is in the stores. */
    knownUs: (): number =>
      Math.min(
        ...reports().map(({ seenUs, report: { stored } }) =>
          stored === undefined ? Math.min(seenUs, nowUs()) - FORMER_US : stored.us,
        ),
      ),
    /** Differs once another node has stored something of the account. */
    stateOf: (account: string): string => JSON.stringify(countsOf(account)),
    /** The earliest event that was stored since that state; undefined: not known, so that all is to be asked for. */
    sinceUs(account: string, state: string): number | undefined {
      const seen: Record<string, number> = JSON.parse(state)
      let sinceUs = Number.POSITIVE_INFINITY
      for (const { node, report } of reports()) {
        const news = report.stored?.news[account]
        if (report.stored === undefined) sinceUs = Math.min(sinceUs, nowUs() - FORMER_BACK_US)
        else if (news !== undefined) {
          const before = seen[node]
          const [first] = news
          if (before === undefined || first === undefined || first[0] > before + 1 || news.at(-1)![0] < before)
            return undefined
          for (const [count, us] of news) if (count > before) sinceUs = Math.min(sinceUs, us)
        }
      }
      return Number.isFinite(sinceUs) ? sinceUs : nowUs()
    },
  }
}
