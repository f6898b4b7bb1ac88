// A silent node may hold starts and ends: its time since what it has handed over is a downtime until it is back, and
// nothing waits for it longer than 10 minutes. Once it is back, what was due meanwhile is judged when the node has
// handed over everything of before: the judge's time stands until then.
import { type Downtime, OPEN_US } from '../log/episode.ts'
import type { KnownNode } from './presence.ts'

/** So long a silent node is waited for. */
export const WAITS_US = 600e6

/** Nothing of that time is lost, and nothing of it is judged before `nowUs`, then as of its due time. */
export const returned = (node: number, fromUs: number, nowUs: number): Downtime => ({
  node,
  fromUs,
  toUs: nowUs,
  waitsUs: nowUs,
})

/** `nodes`: the others, by their last heartbeats. */
export function createSilentNodes(
  nodes: () => readonly KnownNode[],
  logUs: () => number,
  engine: { addDowntime(downtime: Downtime): void; hurryAll(): void },
) {
  const silent = new Map<number, Downtime>()
  return {
    /** Call it before each judgement. */
    notice(): void {
      const known = nodes()
      for (const { node, knownUs, seenUs, isSilent } of known) {
        if (!isSilent || silent.has(node)) continue
        const downtime = { node, fromUs: knownUs, toUs: OPEN_US, waitsUs: seenUs + WAITS_US }
        silent.set(node, downtime)
        engine.addDowntime(downtime)
      }
      for (const [node, downtime] of silent) {
        const now = known.find((it) => it.node === node)
        if (now?.isSilent === true) continue
        silent.delete(node)
        // without a heartbeat for an hour it is not listed any more, and may still hold something
        if (now === undefined) engine.addDowntime({ ...downtime, toUs: logUs() })
        else {
          engine.addDowntime(returned(node, downtime.fromUs, logUs()))
          engine.hurryAll() // what waited for it is due earlier now
        }
      }
    },
  }
}
