// The only node: its feeder hands records over in memory, and their positions are stored with what was judged.
import type { Both, Destination } from '../../event/event.ts'
import type { Position } from '../../spool/segment.ts'
import type { Inputs, Taken } from '../engine/engine.ts'
import type { Fed, Feeder } from './feeder.ts'
import { createMerge } from './merge.ts'

interface Item extends Fed {
  readonly spool: Destination
}

/** The positions are stored for this node. */
export function createOwnInputs(feeder: Feeder, node: number): Inputs {
  const merge = createMerge<Item>()
  /** Behind what was taken; and behind what was read, once everything before is taken. */
  let positions: { -readonly [D in keyof Both<Position>]?: Position } = {}
  let read: typeof positions = {}

  return {
    async read() {
      if (!merge.isEmpty()) return true
      const blocks = await feeder.read()
      for (const { spool, records, next } of blocks) {
        merge.add(
          spool,
          records.map((fed) => ({ ...fed, spool })),
        )
        read[spool] = next
      }
      return blocks.some(({ isFull }) => isFull)
    },
    peekUs: () => merge.peek()?.arrivedUs,
    take() {
      const { spool, record, next } = merge.take()!
      positions[spool] = next
      return record
    },
    knownUs: feeder.knownUs,
    skippedUs: () => (feeder.skipped() ? Number.POSITIVE_INFINITY : undefined),
    taken(): Taken {
      if (merge.isEmpty()) positions = { ...positions, ...read }
      const rows = Object.entries(positions) as [Destination, Position][]
      positions = {}
      read = {}
      return {
        positions: rows.map(([spool, position]) => ({ node, spool, position, knownUs: feeder.knownUs() })),
        passed: [],
        taken: new Map(),
      }
    },
    settle: (taken) => feeder.keep(Object.fromEntries(taken.positions.map(({ spool, position }) => [spool, position]))),
  }
}
