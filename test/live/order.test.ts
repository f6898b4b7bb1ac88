// What is shown does not depend on how events came: in any order, repeated, late, before or after the stores had them,
// with stores that are away or answer late, and after restarts. The whole answer is compared with that of a fresh start
// which finds everything in the stores: all but the medians of days, which are read once an hour.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Event } from '../../src/event/event.ts'
import { answersOf, eventOf } from './any-events.ts'
import { type Cast, MINUTE, openCast, T0 } from './live-cast.ts'

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

test('whatever order, repetition, delay or restart: the answer is that of a fresh start', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(eventOf, { minLength: 1, maxLength: 30 }),
      fc.array(step, { maxLength: 25 }),
      async (events, steps) => {
        const cast = await openCast()
        cast.nowMs = T0 + 30 * MINUTE
        await play(cast, events, steps)
        const before = JSON.stringify(await answersOf(cast))
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
        const expected = await answersOf(fresh)
        expect(await answersOf(cast)).toEqual(expected)
        await cast.close()
        await fresh.close()
      },
    ),
    { numRuns: 40 },
  )
}, 60_000)
