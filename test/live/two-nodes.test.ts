// Two nodes on the same stores show the same, five seconds after the last event was stored: in whatever order events came,
// on whichever node, repeated, late, with stores that are away, and after kills. Both whole answers are compared with that
// of a fresh start which finds everything in the stores: all but the medians of days, which are read once an hour.
import { expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import fc from 'fast-check'
import type { Event } from '../../src/event/event.ts'
import type { NodeReport } from '../../src/watch/nodes/node-table.ts'
import { createStoredElsewhere } from '../../src/watch/nodes/stored-elsewhere.ts'
import { answersOf, eventOf } from './any-events.ts'
import { type Cast, MINUTE, openCast, T0 } from './live-cast.ts'

const NODES = [0, 1] as const
type NodeNumber = (typeof NODES)[number]
const BEAT_MS = 2_000

/** Both of them, with heartbeats as PostgreSQL holds them: JSON. */
async function openNodes() {
  const rows = new Map<NodeNumber, { readonly seenMs: number; readonly report: string }>()
  const stored = { events: [] as Event[], shipped: new Set<string>() }
  let nowMs = T0 + 30 * MINUTE

  async function open(own: NodeNumber, dir?: string) {
    const elsewhere = createStoredElsewhere({
      nowUs: () => nowMs * 1000,
      reports: () =>
        [...rows].flatMap(([node, { seenMs, report }]) =>
          node === own
            ? []
            : [{ node, seenUs: seenMs * 1000, isSilent: false, report: JSON.parse(report) as NodeReport }],
        ),
    })
    const cast = await openCast({ others: elsewhere, stored, ...(dir !== undefined && { dir }) })
    cast.nowMs = nowMs
    return { cast, elsewhere }
  }
  const nodes = [await open(0), await open(1)]
  const at = (node: NodeNumber): Cast => nodes[node]!.cast

  function beat(node: NodeNumber): void {
    const report = { changed: [], late: [], stored: nodes[node]!.elsewhere.report() }
    rows.set(node, { seenMs: nowMs, report: JSON.stringify(report) })
  }
  return {
    ...{ stored, at, beat },
    pass(ms: number): void {
      nowMs += ms
      for (const node of NODES) at(node).nowMs = nowMs
    },
    async kill(node: NodeNumber): Promise<void> {
      const { dir, isAway } = at(node)
      await at(node).kill()
      nodes[node] = await open(node, dir)
      at(node).isAway = isAway
    },
    async close(): Promise<void> {
      for (const node of NODES) {
        await at(node).close()
        await rm(at(node).dir, { recursive: true, force: true })
      }
    },
  }
}

const node = fc.constantFrom(...NODES)
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('send' as const), node, n: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('repeat' as const), node, n: fc.nat({ max: 30 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('ship' as const), node, n: fc.integer({ min: 1, max: 8 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('look' as const, 'look', 'beat', 'beat', 'kill', 'away', 'back'),
      node,
      n: fc.constant(0),
    }),
  },
)

async function settle(nodes: Awaited<ReturnType<typeof openNodes>>): Promise<void> {
  // two heartbeats: an event that is stored when the first one is made is in the second one at the latest
  for (let i = 0; i < 2; i++) {
    nodes.pass(BEAT_MS)
    for (const one of NODES) nodes.beat(one)
  }
}

test('whatever happens to two nodes, both answer as a fresh start does, five seconds later', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(eventOf, { minLength: 1, maxLength: 25 }),
      fc.array(step, { maxLength: 30 }),
      async (events, steps) => {
        const nodes = await openNodes()
        for (const one of NODES) nodes.beat(one)
        const waiting = [...events]
        const looks: Promise<unknown>[] = []
        for (const { do: what, node, n } of steps) {
          const cast = nodes.at(node)
          if (what === 'send') await cast.send(...waiting.splice(0, n))
          else if (what === 'repeat')
            await cast.send(...events.slice(n, n + 1).filter((event) => !waiting.includes(event)))
          else if (what === 'ship') await cast.ship(n)
          else if (what === 'away') cast.isAway = true
          else if (what === 'back') cast.isAway = false
          else if (what === 'look') looks.push(cast.ask().catch(() => {}))
          else if (what === 'beat') {
            nodes.pass(BEAT_MS)
            nodes.beat(node)
          } else await nodes.kill(node)
          await new Promise((done) => setTimeout(done, 1))
        }
        for (const one of NODES) nodes.at(one).isAway = false
        await Promise.all(looks)
        nodes.pass(3_000)
        for (const one of NODES) await nodes.at(one).ask() // somebody looks at both
        await settle(nodes)
        for (const one of NODES) await nodes.at(one).ask()
        await nodes.at(1).send(...waiting)
        for (const one of NODES) await nodes.at(one).ask() // its log is read
        for (const one of NODES) await nodes.at(one).ship()
        await settle(nodes)
        const fresh = await openCast()
        fresh.nowMs = nodes.at(0).nowMs
        fresh.events.push(...nodes.stored.events)
        for (const one of NODES) {
          const cast = nodes.at(one)
          await cast.ask()
          await cast.until(() => !cast.live.isReading('ada'))
        }
        nodes.pass(2_500) // what only the stores can judge is asked for again
        for (const one of NODES) nodes.beat(one)
        for (const one of NODES) {
          const cast = nodes.at(one)
          await cast.ask()
          await cast.until(() => !cast.live.isReading('ada'))
        }
        fresh.nowMs = nodes.at(0).nowMs
        const expected = await answersOf(fresh)
        for (const one of NODES) expect({ one, ...(await answersOf(nodes.at(one))) }).toEqual({ one, ...expected })
        await fresh.close()
        await nodes.close()
      },
    ),
    { numRuns: 40 },
  )
}, 60_000)
