// Hands the records of this node over to the judging one: a block a second in PostgreSQL, with the position of the
// feeder in one transaction. While PostgreSQL is away, the spool holds them. A position in the spool of another
// DATA_DIR with this NODE_ID is not followed: this one begins where its shipper is.
import type { Destination } from '../../event/event.ts'
import type { Logger } from '../../log.ts'
import { type createFeedStatements, type FeedPosition, WentBack } from '../storage/feed-statements.ts'
import type { Block, Feeder } from './feeder.ts'
import { earlier, type Fed } from './log-window.ts'

const EVERY_MS = 1000
const MOST_CHARS = 4 * 2 ** 20

interface PostBlocksOptions {
  readonly feeder: Feeder
  readonly store: Pick<
    ReturnType<typeof createFeedStatements>,
    'feedPositions' | 'addBlock' | 'noteSkipped' | 'putRefused'
  >
  readonly node: number
  /** The id of DATA_DIR. */
  readonly dataDir: string
  nowUs(): number
  readonly log: Logger
}

/** A part of what was read, as one transaction stores it. */
interface Part extends Omit<FeedPosition, 'node' | 'dataDir'> {
  readonly records: readonly Fed[]
}

/** Blocks of at most 4 MiB. What arrived before the `knownUs` of a part is in it or in one before. */
function* partsOf({ spool, records, next }: Block, knownUs: number): Generator<Part> {
  const parts: Fed[][] = [[]]
  let chars = 0
  for (const fed of records) {
    chars += fed.record.length
    if (chars > MOST_CHARS && parts.at(-1)!.length > 0) {
      parts.push([])
      chars = fed.record.length
    }
    parts.at(-1)!.push(fed)
  }
  for (const [i, part] of parts.entries()) {
    const rest = parts.slice(i + 1).flat()
    const position = rest.reduce((start, { from }) => earlier(start, from), next)
    yield { spool, records: part, position, knownUs: rest[0]?.arrivedUs ?? knownUs }
  }
}

export function createPostBlocks({ feeder, store, node, dataDir, nowUs, log }: PostBlocksOptions) {
  let waiting: Part[] = []
  let timer: Timer | undefined
  let running: Promise<void> = Promise.resolve()
  let isAway = false
  /** What had arrived before this start and was handed over. */
  let fedUs = 0
  let isStopping = false
  /** The `knownUs` of the stored rows, as this node left them. */
  const stored = new Map<Destination, number>()

  async function begin(): Promise<void> {
    const all = await store.feedPositions(node)
    const isOwn = (row: FeedPosition) => row.dataDir === undefined || row.dataDir === dataDir
    const rows = all.filter(isOwn)
    // what the DATA_DIR of before delivered and did not hand over is in the stores
    if (rows.length < all.length)
      await store.noteSkipped(Math.min(...all.filter((row) => !isOwn(row)).map(({ knownUs }) => knownUs)))
    waiting = []
    stored.clear()
    for (const { spool, knownUs } of rows) stored.set(spool, knownUs)
    fedUs = Math.min(...rows.map((row) => row.knownUs), Number.MAX_SAFE_INTEGER)
    feeder.begin(Object.fromEntries(rows.map(({ spool, position, knownUs }) => [spool, { position, knownUs }])))
  }

  /** Posts what is new; true if there is more. */
  async function step(): Promise<boolean> {
    if (!feeder.hasBegun()) await begin()
    if (feeder.skipped()) await store.noteSkipped(Math.max(fedUs, feeder.knownUs()))
    let isMore = waiting.length > 0
    if (!isMore) {
      const blocks = await feeder.read()
      const refused = feeder.refused()
      if (refused.length > 0) await store.putRefused(node, refused, nowUs()) // before what was known then
      waiting = blocks.flatMap((block) => [...partsOf(block, feeder.knownUs())])
      isMore = blocks.some(({ isFull }) => isFull)
    }
    while (waiting.length > 0) {
      const { records, ...fed } = waiting[0]!
      const lines = records.map(({ arrivedUs, record }) => [arrivedUs, record] as const)
      await store.addBlock({ node, dataDir, ...fed }, lines, stored.get(fed.spool))
      stored.set(fed.spool, fed.knownUs)
      waiting.shift()
      await feeder.keep({ [fed.spool]: fed.position })
    }
    return isMore
  }

  async function safeStep(): Promise<void> {
    let isMore = false
    try {
      isMore = await step()
      isAway = false
    } catch (err) {
      if (err instanceof WentBack) {
        log.warn({ node }, 'watches: PostgreSQL was set to an earlier state; events are handed over again from there')
        await begin().catch(() => {}) // tried again with the next step, which finds the same
      }
      if (!isAway) log.warn({ err }, 'watches: events could not be handed over to the judging node; trying again')
      isAway = true
    }
    if (!isStopping) timer = setTimeout(run, isMore ? 0 : EVERY_MS)
  }
  function run(): void {
    running = safeStep()
  }

  return {
    step,
    /** At the stored rows: at the start, and again when the database was set to an earlier state. */
    begin,
    /** Its first position is stored before events are accepted: a kill loses none that is delivered meanwhile. */
    async start(): Promise<void> {
      run()
      await running
    },
    /** Posts what was accepted until now. */
    async stop(): Promise<void> {
      isStopping = true
      clearTimeout(timer)
      await running
      if (!isAway) await step().catch(() => {})
    },
  }
}
