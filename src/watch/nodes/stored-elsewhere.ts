// What the nodes say to each other about what they have stored, with their heartbeats: up to when everything is in the
// stores, and of accounts that somebody looks at on another node how often something was stored, and from when on.
import type { NodeReport, StoredNews } from './node-table.ts'
import { WAITS_US } from './silent-nodes.ts'

/** What this node says about itself. */
interface StoredHere {
  /** What arrived before is in the stores. */
  storedUs(): number
  /** The accounts that are looked at, newest last. */
  looked(): readonly string[]
  /** Of these accounts, which are looked at elsewhere. */
  newsOf(accounts: readonly string[]): Readonly<Record<string, StoredNews>>
}

interface Reported {
  readonly node: number
  readonly seenUs: number
  readonly isSilent: boolean
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
/** Of a node that says nothing about an account what is new is asked for so often, and from so long before. */
const UNSAID_EVERY_US = 2e6
const UNSAID_BACK_US = 15e6

export function createStoredElsewhere({ reports, nowUs }: StoredElsewhereOptions) {
  let here: StoredHere | undefined
  const unsaidTurn = (): number => Math.floor(nowUs() / UNSAID_EVERY_US)
  const awaited = () => reports().filter(({ isSilent, seenUs }) => !isSilent || nowUs() - seenUs <= WAITS_US)

  const countsOf = (account: string): Record<string, number> =>
    Object.fromEntries(
      awaited().map(({ node, report: { stored } }) => [node, stored?.news[account]?.at(-1)?.[0] ?? unsaidTurn()]),
    )

  return {
    isAlone: false,
    serve(source: StoredHere): void {
      here = source
    },
    /** What this node says with its heartbeat. */
    report(): NonNullable<NodeReport['stored']> | undefined {
      if (here === undefined) return undefined
      const wanted = new Set(awaited().flatMap(({ report: { stored } }) => stored?.looked ?? []))
      return { us: here.storedUs(), looked: here.looked().slice(-LOOKED_MAX), news: here.newsOf([...wanted]) }
    },
    /** What arrived before at any other node is in the stores. */
    knownUs: (): number =>
      Math.min(
        ...awaited().map(({ seenUs, report: { stored } }) =>
          stored === undefined ? Math.min(seenUs, nowUs()) - FORMER_US : stored.us,
        ),
      ),
    /** Differs once another node has stored something of the account. */
    stateOf: (account: string): string => JSON.stringify(countsOf(account)),
    /**
     * The earliest event that was stored since that state, when `knownUs` was known; undefined: not known, so that all
     * is to be asked for.
     */
    sinceUs(account: string, state: string, knownUs: number): number | undefined {
      const seen: Record<string, number> = JSON.parse(state)
      let sinceUs = Number.POSITIVE_INFINITY
      for (const { node, report } of awaited()) {
        const [first, ...more] = report.stored?.news[account] ?? []
        if (first === undefined) {
          sinceUs = Math.min(sinceUs, Math.min(nowUs(), knownUs) - UNSAID_BACK_US)
          continue
        }
        const before = seen[node]
        if (before === undefined || first[0] > before + 1 || (more.at(-1) ?? first)[0] < before) return undefined
        for (const [count, us] of [first, ...more]) if (count > before) sinceUs = Math.min(sinceUs, us)
      }
      if (sinceUs <= 0) return undefined
      return Number.isFinite(sinceUs) ? sinceUs : nowUs()
    },
  }
}
