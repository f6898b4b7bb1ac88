// What is shown does not depend on how events came: in any order, repeated, late, before or after the stores had them,
// with stores that are away or answer late, and after restarts. The whole answer is compared with that of a fresh start
// which finds everything in the stores: all but the medians of days, which are read once an hour.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Event } from '../../src/event/event.ts'
import { type Cast, endAt, MINUTE, openCast, raiseAt, startAt, T0 } from './live-cast.ts'

const PROCESSES = ['import', 'backup']
const METAS = ['', 'eu']
const UIDS = ['', 'a', 'b']

/** Minutes ago, in the open hour and in closed ones. */
const agoMinutes = fc.oneof(fc.nat({ max: 10 }), fc.nat({ max: 200 }))
const eventOf = fc
  .record({
    kind: fc.constantFrom('start', 'end', 'failed', 'exception', 'metrics'),
    agoMinutes,
    seconds: fc.nat({ max: 59 }),
    process: fc.constantFrom(...PROCESSES),
    meta: fc.constantFrom(...METAS),
    uid: fc.constantFrom(...UIDS),
  })
  .map(({ kind, agoMinutes, seconds, ...of }): Event => {
    const ms = T0 + 30 * MINUTE - agoMinutes * MINUTE - seconds * 1000
    if (kind === 'start') return startAt(ms, of)
    if (kind === 'exception') return raiseAt(ms, `Error: ${of.uid}\n  at x`, of)
    if (kind !== 'metrics') return endAt(ms, { ...of, failed: kind === 'failed' })
    return { ...startAt(ms, of), kind: 'metrics', items: [['x', 1]] } as Event
  })

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('send' as const), n: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('repeat' as const), n: fc.nat({ max: 30 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('ship' as const), n: fc.integer({ min: 1, max: 8 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('look', 'lookSlowly', 'forget', 'away', 'back') }) },
)

/** Sends the events as the steps say; looks meanwhile. */
async function play(cast: Cast, events: readonly Event[], steps: readonly { do: string; n?: number }[]): Promise<void> {
  const waiting = [...events]
  const looks: Promise<unknown>[] = []
  let release: (() => void) | undefined
  const look = () => looks.push(cast.ask().catch(() => {}))
  const wait = () => new Promise((done) => setTimeout(done, 1))
  for (const { do: what, n = 0 } of steps) {
    if (what === 'send') await cast.send(...waiting.splice(0, n))
    else if (what === 'repeat') await cast.send(...events.slice(n, n + 1).filter((event) => !waiting.includes(event)))
    else if (what === 'ship') await cast.ship(n)
    else if (what === 'away') cast.isAway = true
    else if (what === 'back') cast.isAway = false
    else if (what === 'forget') cast.live.forget('ada')
    else if (what === 'look') look()
    else if (release === undefined) {
      // the stores answer once something else has happened
      const { promise, resolve } = Promise.withResolvers<void>()
      cast.answers = promise
      release = resolve
      look()
    } else {
      release()
      release = undefined
    }
    await wait()
  }
  release?.()
  cast.isAway = false
  cast.nowMs += 3_000
  await Promise.all(looks)
  await cast.send(...waiting)
}

async function answers(cast: Cast) {
  const all = await cast.ask()
  const rows = await Promise.all(all.processes.map(({ process }) => cast.ask(`process=${process}`)))
  // medians of days are read once an hour
  const text = JSON.stringify({ all, details: rows.map(({ processes }) => processes) })
  return JSON.parse(text.replaceAll(/"median_(24h|7d)_ms":[^,}]*/g, '"median":0'))
}

test('whatever order, repetition, delay or restart: the answer is that of a fresh start', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(eventOf, { minLength: 1, maxLength: 30 }),
      fc.array(step, { maxLength: 25 }),
      async (events, steps) => {
        const cast = await openCast()
        cast.nowMs = T0 + 30 * MINUTE
        await play(cast, events, steps)
        const before = JSON.stringify(await answers(cast))
        expect(before).toContain('"stale_s":null')
        await cast.ship()
        // what only the stores can judge is asked for again
        cast.nowMs += 3_000
        await cast.ask()
        await cast.until(() => !cast.live.isReading('ada'))
        cast.nowMs += 3_000
        await cast.ask()
        const fresh = await openCast()
        fresh.nowMs = cast.nowMs
        fresh.events.push(...cast.events)
        const expected = await answers(fresh)
        expect(await answers(cast)).toEqual(expected)
        await cast.close()
        await fresh.close()
      },
    ),
    { numRuns: 40 },
  )
}, 60_000)
