// This node's part in judging and delivery: a single node is always on duty, otherwise the one with the lease is.
import type { SqlDatabase } from '../../state/database.ts'
import type { Pending } from '../engine/seed.ts'
import { createBlockInputs } from '../feed/block-inputs.ts'
import { createFeeder, type FollowedSpools } from '../feed/feeder.ts'
import { createOwnInputs } from '../feed/own-inputs.ts'
import { createPostBlocks } from '../feed/post-blocks.ts'
import type { RefusedTimes } from '../feed/refused-times.ts'
import type { Downtime } from '../log/episode.ts'
import type { Waiting } from '../log/judge-interface.ts'
import { createWatchStore, type WatchStore } from '../storage/create-watch-store.ts'
import { createFeedStatements } from '../storage/feed-statements.ts'
import { createDuty, type Duty, type DutyOptions } from './duty.ts'
import { fenced, type Round } from './node-table.ts'
import { createPresence, type KnownNode } from './presence.ts'
import { returned } from './silent-nodes.ts'
import { createStoredElsewhere, type StoredElsewhere } from './stored-elsewhere.ts'

/** What a duty needs besides what its node gives it. */
export type NodeOptions = Omit<
  DutyOptions,
  'store' | 'inputs' | 'onWentBack' | 'waitForRecords' | 'coveredSinceUs' | 'mayDeliver' | 'nodes'
> & {
  readonly spools: FollowedSpools
  /** When events of an account were refused. */
  readonly refusedTimes?: Pick<RefusedTimes, 'take'>
  /** The earliest stamp of the requests that are received; undefined if none is. */
  receivingUs(): number | undefined
}

/** What the rest of the room needs of judging, wherever that happens. */
export interface WatchNode {
  /** Is this the node that judges? */
  isOnDuty(): boolean
  /** Everything that arrived before it is judged and stored, as far as this node knows. */
  judgedUs(): number
  /** What is due, but judged later; undefined if no node judges. */
  waiting(): readonly Waiting[] | undefined
  /** PostgreSQL does not answer. */
  isAway(): boolean
  /** Downtimes of the last hour; known on the judging node. */
  downtimes(): readonly Downtime[]
  /** Other nodes that were heard of within an hour. */
  nodes(): readonly KnownNode[]
  /** Which watches wait for runs of before, and since when; known on the judging node. */
  pending(account: string): Pending | undefined
  /** Absent alone. */
  readonly others?: StoredElsewhere
  /** Processes that are not judged, because the account has too many. */
  unjudged(account: string): readonly string[]
  /** Call it when the watches of an account were changed on this node. */
  hurry(account: string): void
  start(): Promise<void>
  /** Called after the last event was accepted. */
  stop(): Promise<void>
}

/** More than this is not reported to other nodes. */
const WAITING_MAX = 200

const toRound = (duty: Duty): Round => ({
  judgedUs: duty.judgedUs(),
  waiting: duty.waiting().slice(0, WAITING_MAX),
  dropped: Object.fromEntries(
    [...duty.accounts()]
      .map((account) => [account, duty.unjudged(account)] as const)
      .filter(([, processes]) => processes.length > 0)
      .slice(0, WAITING_MAX),
  ),
})

/** NODE_ID does not matter alone: the position is that of this DATA_DIR. */
const OWN = 0

export function createOnlyNode({ spools, ...options }: NodeOptions & { readonly store: WatchStore }): WatchNode {
  const { store, refusedTimes, logUs, receivingUs, log } = options
  const watched = new Set<string>()
  const isWatched = (account: string) => watched.has(account)
  const feeder = createFeeder({ spools, nowUs: logUs, receivingUs, isWatched, refusedTimes, log })
  const duty = createDuty({
    ...options,
    inputs: createOwnInputs(feeder, OWN, (times) => store.putRefused(OWN, times, options.nowUs())),
    waitForRecords: feeder.waitForRecords,
  })
  return {
    isOnDuty: () => true,
    judgedUs: duty.judgedUs,
    waiting: duty.waiting,
    isAway: () => false,
    downtimes: duty.downtimes,
    nodes: () => [],
    pending: duty.pending,
    unjudged: duty.unjudged,
    hurry(account) {
      watched.add(account)
      duty.hurry(account)
    },
    async start() {
      for (const { account } of await store.watches()) watched.add(account)
      const rows = await store.feedPositions(OWN)
      feeder.begin(Object.fromEntries(rows.map(({ spool, position, knownUs }) => [spool, { position, knownUs }])))
      // before events are accepted: a kill loses none that is delivered meanwhile
      if (rows.length === 0) await store.addPositions(OWN, feeder.positions())
      await duty.start()
    },
    stop: duty.stop,
  }
}

interface SharedOptions extends NodeOptions {
  readonly database: SqlDatabase
  /** Of the same PostgreSQL; its writes wait for no judge. */
  readonly feedDatabase: SqlDatabase
  /** NODE_ID. */
  readonly node: number
  /** The id of DATA_DIR. */
  readonly dataDir: string
}

export function createSharedNode(options: SharedOptions): WatchNode {
  const { database, feedDatabase, spools, refusedTimes, node, dataDir, nowUs, logUs, receivingUs, log } = options
  let duty: Duty | undefined
  const feed = createFeedStatements(feedDatabase)
  let watched: ReadonlySet<string> = new Set()
  const isWatched = (account: string) => watched.has(account)
  const learnWatched = async () => {
    watched = new Set(await feed.watchedAccounts())
  }
  const feeder = createFeeder({ spools, nowUs: logUs, receivingUs, isWatched, learnWatched, refusedTimes, log })
  const posts = createPostBlocks({ feeder, store: feed, node, dataDir, nowUs, log })
  const elsewhere = createStoredElsewhere({ reports: () => presence.reports(), nowUs: logUs })
  const presence = createPresence({
    ...options,
    stored: elsewhere.report,
    knownUs: feeder.knownUs,
    round: () => duty && toRound(duty),
    async takeDuty(token) {
      const { accepts, coveredSinceUs, awaited, isOnDuty, nodes } = presence
      const store = createWatchStore(fenced(database, token))
      const onMade = (accounts: readonly string[]) => accounts.forEach(mine.hurry)
      const inputs = createBlockInputs({ store, awaited, onMade, nowUs })
      const mine = createDuty({
        ...options,
        store,
        inputs,
        accepts,
        coveredSinceUs,
        nodes,
        mayDeliver: isOnDuty,
        onWentBack: presence.dropDuty,
      })
      // the judge of before may have gone on without a node that is back, or without this one
      for (const { node: fed, knownUs } of await store.feedPositions())
        if (awaited().includes(fed)) mine.addDowntime(returned(fed, knownUs, logUs()))
      await mine.start()
      duty = mine
      return async () => {
        duty = undefined
        await mine.stop()
      }
    },
    onChanged(accounts) {
      for (const account of accounts) duty?.hurry(account)
    },
  })
  return {
    isOnDuty: presence.isOnDuty,
    judgedUs: presence.judgedUs,
    waiting: () => presence.round()?.waiting,
    isAway: presence.isAway,
    downtimes: () => duty?.downtimes() ?? [],
    nodes: presence.nodes,
    pending: (account) => duty?.pending(account),
    others: elsewhere,
    unjudged: (account) => presence.round()?.dropped?.[account] ?? [],
    hurry(account) {
      if (duty === undefined) presence.noteChanged(account)
      else duty.hurry(account)
    },
    async start() {
      await presence.start()
      await posts.start()
    },
    async stop() {
      await posts.stop()
      await presence.stop()
      await presence.leave()
    },
  }
}
