// Alerts while writes take seconds and uploads trickle: spool, feeder and judge; the clock and the disk's time are the
// test's. See rule 1 of src/watch/README.md.
import { expect, test } from 'bun:test'
import { createArrivals } from '../../../src/event/arrivals.ts'
import type { Event } from '../../../src/event/event.ts'
import { toRecord } from '../../../src/event/record.ts'
import { createFeeder } from '../../../src/watch/feed/feeder.ts'
import { createOwnInputs } from '../../../src/watch/feed/own-inputs.ts'
import { applyRecord } from '../../../src/watch/log/apply-record.ts'
import { FakeDisk } from '../../spool/fake-disk.ts'
import { createLogLines, openOn } from '../../spool/spool-trial.ts'
import { ACCOUNT, openDesk, S, T0, watchOf } from '../log/judge-kit.ts'

/** Writes wait while `held` is set. */
class SlowDisk extends FakeDisk {
  held: Promise<void> | undefined
  override async open(...args: Parameters<FakeDisk['open']>) {
    const file = await super.open(...args)
    const { write } = file
    file.write = async (...data) => {
      await this.held
      return write.apply(file, data)
    }
    return file
  }
}

async function openNode() {
  const { log } = createLogLines()
  const disk = new SlowDisk()
  const spools = {
    points: await openOn(disk, { isFollowed: true, log }),
    exceptions: await openOn(new FakeDisk(), { isFollowed: true, log }),
  }
  const clock = { us: T0 }
  let newestUs = 0
  const next = () => {
    newestUs = Math.max(clock.us, newestUs + 1)
    return { us: newestUs, sub: 0 }
  }
  const arrivals = createArrivals({ next, nowUs: () => Math.max(clock.us, newestUs) })
  const feeder = createFeeder({
    ...{ spools, nowUs: () => Math.max(clock.us, newestUs), receivingUs: arrivals.leastUs, isWatched: () => true, log },
  })
  feeder.begin({})
  const inputs = createOwnInputs(feeder, 0)
  const desk = openDesk({
    watches: [watchOf('long', { long: '2s' }), watchOf('late', { late: { every: '10s', grace: '1s' } })],
  })

  async function judge(): Promise<void> {
    await inputs.read()
    for (let us = inputs.peekUs(); us !== undefined; us = inputs.peekUs()) {
      desk.advance(us)
      await applyRecord(desk.judge, inputs.take(), us, async () => false)
    }
    desk.advance(inputs.knownUs())
  }
  return {
    ...{ disk, clock, arrivals, desk, judge },
    async pass(seconds: number): Promise<void> {
      for (const endUs = clock.us + seconds * S; clock.us < endUs; ) {
        clock.us += S / 4
        await judge()
      }
    },
    /** Stamped now. */
    send(kind: 'start' | 'end', uid: string, arrival = arrivals.begin(arrivals.stamp())): Promise<void> {
      const event: Event = { kind, account: ACCOUNT, process: 'job', meta: '', uid, stamp: arrival }
      return spools.points.append(toRecord(event), arrivals.end(arrival))
    },
  }
}

test('punctual runs make no alert while each write takes three seconds, and one that hangs does', async () => {
  const { disk, desk, pass, send } = await openNode()
  const write = async (work: () => Promise<void>) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    disk.held = promise
    const done = work()
    await pass(3)
    disk.held = undefined
    resolve()
    await done
  }
  for (let n = 0; n < 8; n++) {
    await send('start', `r${n}`)
    await pass(1)
    await write(() => send('end', `r${n}`))
    await pass(5)
  }
  expect(desk.story()).toBe('')
  await write(() => send('start', 'hangs'))
  expect(desk.story()).toBe('')
  await pass(0.25)
  expect(desk.story()).toBe('long@74')
})

test('a hundred uploads that trickle delay an alert by two seconds at most, and are late themselves', async () => {
  const { clock, arrivals, desk, pass, send } = await openNode()
  await send('start', 'hangs')
  await pass(1)
  const uploads = Array.from({ length: 100 }, () => arrivals.begin(arrivals.stamp()))
  await pass(1.75)
  expect(desk.story()).toBe('')
  await pass(0.5)
  expect(desk.story()).toBe('long@2')
  expect(clock.us - T0).toBeLessThan(4 * S)
  for (const [i, upload] of uploads.entries()) await send('end', `u${i}`, upload)
  await pass(0.25)
  expect(desk.story()).toBe('long@2')
})

test('an event whose body came slowly counts at its stamp, before what was due after it', async () => {
  const { arrivals, desk, pass, send } = await openNode()
  await send('start', 'a')
  await pass(1.75)
  const end = arrivals.begin(arrivals.stamp())
  await pass(1)
  await send('start', 'b') // later, and earlier in the log
  await send('end', 'b')
  await send('end', 'a', end)
  await pass(2)
  expect(desk.story()).toBe('')
})
