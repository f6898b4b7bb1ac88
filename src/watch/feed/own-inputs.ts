// The only node: its feeder hands records over in memory, and their positions are stored with what was judged.
import { DESTINATIONS, type Destination } from '../../event/event.ts'
import type { Taken } from '../engine/engine-state.ts'
import type { RefusedTime } from '../log/episode.ts'
import type { Block, Feeder } from './feeder.ts'
import { earlier, type Fed } from './log-window.ts'
import { createMerge } from './merge.ts'
import type { FedInputs } from './refused-times.ts'

interface Item extends Fed {
  readonly spool: Destination
}

/** The positions are stored for this node. `keepRefused`: stores when events were refused, for the next start. */
export function createOwnInputs(
  feeder: Feeder,
  node: number,
  keepRefused: (times: readonly RefusedTime[]) => Promise<void> = async () => {},
): FedInputs {
  const merge = createMerge<Item>()
  let blocks: readonly Block[] = []
  const refused = new Map<string, RefusedTime>()

  /** Where the spool is read from again: what was not taken stands behind. */
  function startOf({ spool, next }: Block) {
    let start = next
    for (const item of merge.rest(spool)) start = earlier(start, item.from)
    return start
  }

  return {
    async read() {
      if (!merge.isEmpty()) return true
      blocks = await feeder.read()
      for (const { spool, records } of blocks)
        merge.add(
          spool,
          records.map((fed) => ({ ...fed, spool })),
        )
      return blocks.some(({ isFull }) => isFull)
    },
    peekUs: () => merge.peek()?.arrivedUs,
    take: () => merge.take()!.record,
    knownUs: feeder.knownUs,
    refused() {
      const times = feeder.refused()
      for (const time of times) refused.set(`${time.account} ${time.fromUs}`, time)
      return times
    },
    skippedUs: () => (feeder.skipped() ? Number.POSITIVE_INFINITY : undefined),
    taken(): Taken {
      // no two records arrived at the same time, but those of one ping; what is taken twice changes nothing
      const knownUs = merge.peek()?.arrivedUs ?? feeder.knownUs()
      return {
        positions: blocks.map((block) => ({ node, spool: block.spool, position: startOf(block), knownUs })),
        passed: [],
        taken: new Map(),
      }
    },
    settle: async ({ positions }) => {
      if (refused.size > 0) await keepRefused([...refused.values()])
      refused.clear()
      for (const spool of DESTINATIONS) {
        const row = positions.find((it) => it.spool === spool)
        if (row !== undefined) await feeder.keep({ [spool]: row.position })
      }
    },
  }
}
