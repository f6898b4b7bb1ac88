// Hands the records of this node over to the judging one: a block a second in PostgreSQL, with the position of the
// feeder in one transaction. While PostgreSQL is away, the spool holds them.
import { DESTINATIONS } from '../../event/event.ts'
import type { Logger } from '../../log.ts'
import type { createFeedStatements } from '../storage/feed-statements.ts'
import type { Block, Feeder } from './feeder.ts'

const EVERY_MS = 1000

interface PostBlocksOptions {
  readonly feeder: Feeder
  readonly store: Pick<ReturnType<typeof createFeedStatements>, 'feedPositions' | 'addBlock' | 'noteSkipped'>
  readonly node: number
  readonly log: Logger
}

export function createPostBlocks({ feeder, store, node, log }: PostBlocksOptions) {
  let waiting: Block[] = []
  let timer: Timer | undefined
  let running: Promise<void> = Promise.resolve()
  let isAway = false
  /** What had arrived before this start and was handed over. */
  let fedUs = 0
  let isStopping = false

  async function begin(): Promise<void> {
    const rows = await store.feedPositions(node)
    const positionOf = (spool: string) => rows.find((row) => row.spool === spool)?.position
    const [points, exceptions] = DESTINATIONS.map(positionOf)
    fedUs = Math.min(...rows.map((row) => row.knownUs), Number.MAX_SAFE_INTEGER)
    feeder.begin({ ...(points && { points }), ...(exceptions && { exceptions }) })
  }

  /** Posts what is new; true if there is more. */
  async function step(): Promise<boolean> {
    if (!feeder.hasBegun()) await begin()
    if (feeder.skipped()) await store.noteSkipped(Math.max(fedUs, feeder.knownUs()))
    if (waiting.length === 0) waiting = await feeder.read()
    const knownUs = feeder.knownUs()
    const isMore = waiting.some(({ isFull }) => isFull)
    while (waiting.length > 0) {
      const { spool, records, next } = waiting[0]!
      const lines = records.map(({ arrivedUs, record }) => [arrivedUs, record] as const)
      await store.addBlock({ node, spool, position: next, knownUs }, lines)
      waiting.shift()
      await feeder.keep({ [spool]: next })
    }
    return isMore
  }

  async function safeStep(): Promise<void> {
    let isMore = false
    try {
      isMore = await step()
      isAway = false
    } catch (err) {
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
