// Several nodes: the judging one takes the blocks of all from PostgreSQL, in the order of arrival, up to what the
// slowest living node has fed.
import { DESTINATIONS, type Destination } from '../../event/event.ts'
import type { Taken } from '../engine/engine-state.ts'
import type { RefusedTime } from '../log/episode.ts'
import type { WatchStore } from '../storage/create-watch-store.ts'
import { createMerge } from './merge.ts'
import type { FedInputs } from './refused-times.ts'

interface Item {
  readonly arrivedUs: number
  readonly record: string
  readonly block: number
  /** So many records of the block are taken with this one. */
  readonly count: number
  readonly isLast: boolean
}

/** Longer than a write takes, and than clocks differ. */
const NOTED_US = 15e6

interface BlockInputsOptions {
  readonly store: Pick<WatchStore, 'feedPositions' | 'blocks' | 'seedUs' | 'madeSince' | 'refused'>
  /** The nodes for which is waited. */
  awaited(): readonly number[]
  /** Called before records are judged, with the accounts whose watches may be new. */
  onMade(accounts: readonly string[]): void
  /** The wall clock. */
  nowUs(): number
}

export function createBlockInputs({ store, awaited, onMade, nowUs }: BlockInputsOptions): FedInputs {
  const merge = createMerge<Item>()
  /** Read and not yet stored as taken. */
  const held = new Set<number>()
  let knownUs = 0
  /** Of the last look at watches that are new. */
  let lookedUs = nowUs()
  /** A feeder of any node left a stretch out since then; and the last one that was reported. */
  let seedUs: number | undefined
  let reportedUs: number | undefined
  let refused: RefusedTime[] = []
  let passed: number[] = []
  let taken = new Map<number, number>()

  /** What arrived before is in blocks. Read before the blocks. */
  async function fedUs(): Promise<number> {
    const positions = await store.feedPositions()
    const nodes = awaited()
    const known = nodes.flatMap((node) =>
      DESTINATIONS.flatMap((spool) => positions.find((it) => it.node === node && it.spool === spool)?.knownUs ?? []),
    )
    return known.length === 0 ? knownUs : Math.min(...known)
  }

  return {
    async read() {
      const limitUs = await fedUs()
      refused = [...refused, ...(await store.refused(nowUs() - NOTED_US))]
      const us = await store.seedUs()
      if (us !== reportedUs) seedUs = us
      reportedUs = us
      const { blocks, isFull } = await store.blocks([...held])
      // blocks bring events of new watches sooner than heartbeats tell of these, and after any lag
      if (blocks.length > 0) {
        const askedUs = nowUs()
        onMade(await store.madeSince(lookedUs - NOTED_US))
        lookedUs = askedUs
      }
      for (const { seq, node, spool, records, taken: from } of blocks) {
        held.add(seq)
        merge.add(keyOf(node, spool), toItems(seq, records, from))
      }
      // the rest of them holds what arrived later than what was read, of each stream
      knownUs = Math.max(knownUs, isFull ? Math.min(limitUs, ...merge.lastUs()) : limitUs)
      return isFull
    },
    peekUs() {
      const next = merge.peek()
      return next === undefined || next.arrivedUs >= knownUs ? undefined : next.arrivedUs
    },
    take() {
      const { record, block, count, isLast } = merge.take()!
      if (isLast) {
        passed.push(block)
        taken.delete(block)
      } else taken.set(block, count)
      return record
    },
    knownUs: () => knownUs,
    refused() {
      const times = refused
      refused = []
      return times
    },
    skippedUs() {
      const us = seedUs
      seedUs = undefined
      return us
    },
    taken(): Taken {
      const now = { positions: [], passed, taken }
      passed = []
      taken = new Map()
      return now
    },
    async settle({ passed: done }) {
      for (const seq of done) held.delete(seq)
    },
  }
}

const keyOf = (node: number, spool: Destination) => `${node} ${spool}`

const toItems = (block: number, records: readonly (readonly [number, string])[], from: number): Item[] =>
  records
    .map(([arrivedUs, record], i) => ({ arrivedUs, record, block, count: i + 1, isLast: i === records.length - 1 }))
    .slice(from)
