// Several nodes: each posts what its spools hold, the judging one takes all of it in the order of arrival.
import { describe, expect, test } from 'bun:test'
import type { Event } from '../../../src/event/event.ts'
import { toRecord } from '../../../src/event/record.ts'
import { createBlockInputs } from '../../../src/watch/feed/block-inputs.ts'
import { createFeeder } from '../../../src/watch/feed/feeder.ts'
import { createPostBlocks } from '../../../src/watch/feed/post-blocks.ts'
import { createRefusedTimes } from '../../../src/watch/feed/refused-times.ts'
import { FakeDisk } from '../../spool/fake-disk.ts'
import { createLogLines, drain, openOn } from '../../spool/spool-trial.ts'
import { databases } from '../storage/watch-databases.ts'
import { ACCOUNT, watchOf } from '../watch-cast.ts'

const NOTHING_MADE = { onMade() {}, nowUs: () => 30e6 }

const NOTHING_JUDGED = {
  ...{ seedUs: undefined, seededUs: undefined, positions: [], state: [], dropped: [], changes: [], passed: [] },
  taken: new Map(),
}

const recordAt = (us: number, account = ACCOUNT) =>
  toRecord({ kind: 'start', account, process: `job ${us}`, meta: '', uid: '', stamp: { us, sub: 0 } } as Event)

describe.each(databases)('in $database', ({ open }) => {
  const openNode = async (
    store: Awaited<ReturnType<typeof open>>,
    node: number,
    disk = new FakeDisk(),
    dataDir = `directory of ${node}`,
  ) => {
    const { log } = createLogLines()
    const spools = {
      points: await openOn(disk, { isFollowed: true, log }),
      exceptions: await openOn(new FakeDisk(), { isFollowed: true, log }),
    }
    const clock = { us: 10e6 }
    const nowUs = () => clock.us
    const refusedTimes = createRefusedTimes({ isRefused: () => false, nowUs })
    const isWatched = (account: string) => account === ACCOUNT
    const feeder = createFeeder({ spools, nowUs, isWatched, refusedTimes, log })
    const posting = { ...store, addBlock: store.addBlock }
    const post = createPostBlocks({ feeder, store: posting, node, dataDir, nowUs, log })
    await post.step() // its first position is stored
    return {
      disk,
      spools,
      clock,
      post,
      posting,
      refusedTimes,
      append: (us: number) => spools.points.append(recordAt(us), us),
    }
  }
  const takeAll = async (inputs: ReturnType<typeof createBlockInputs>) => {
    const records: string[] = []
    await inputs.read()
    while (inputs.peekUs() !== undefined) records.push(inputs.take())
    return records
  }

  test('blocks are merged by arrival, up to what the slowest node has fed', async () => {
    const store = await open()
    const [one, two] = [await openNode(store, 1), await openNode(store, 2)]
    const inputs = createBlockInputs({ store, awaited: () => [1, 2], ...NOTHING_MADE })
    for (const us of [11e6, 13e6, 15e6]) await one.append(us)
    for (const us of [12e6, 14e6]) await two.append(us)
    await two.spools.points.append(recordAt(14e6, 'acc_of_nobody'), 14e6)
    one.clock.us = 30e6
    two.clock.us = 13.5e6
    for (const { post } of [one, two]) await post.step()
    expect(await takeAll(inputs)).toEqual([11e6, 12e6, 13e6].map((us) => recordAt(us)))
    two.clock.us = 30e6
    await two.post.step()
    expect(await takeAll(inputs)).toEqual([14e6, 15e6].map((us) => recordAt(us)))
    await store.close()
  })

  test('the judging node knows of a refusal elsewhere before what came after it', async () => {
    const store = await open()
    const node = await openNode(store, 1)
    const inputs = createBlockInputs({ store, awaited: () => [1], ...NOTHING_MADE, nowUs: () => node.clock.us })
    node.clock.us = 20e6
    node.refusedTimes.note(ACCOUNT)
    node.refusedTimes.note('acc_of_nobody')
    await node.append(25e6)
    node.clock.us = 30e6
    await inputs.read()
    expect([inputs.refused(), inputs.peekUs()]).toEqual([[], undefined])
    await node.post.step()
    await inputs.read()
    expect(inputs.peekUs()).toBe(25e6)
    expect(inputs.refused()).toEqual([{ account: ACCOUNT, fromUs: 20e6, toUs: 50e6 }])
    node.clock.us = 31e6
    node.refusedTimes.note(ACCOUNT)
    await node.post.step()
    await inputs.read()
    expect(inputs.refused()).toEqual([{ account: ACCOUNT, fromUs: 20e6, toUs: 61e6 }])
    await store.close()
  })

  test('the judging node knows of a new watch before the events that came after it, however late they are handed over', async () => {
    const store = await open()
    const node = await openNode(store, 1)
    const made: string[] = []
    const onMade = (accounts: readonly string[]) => made.push(...accounts)
    const inputs = createBlockInputs({ store, awaited: () => [1], onMade, nowUs: () => node.clock.us })
    const us = 11e6
    await store.addWatch(watchOf('wat_1', {}, { createdUs: us, sinceUs: us }), 9)
    await node.append(12e6)
    node.clock.us = 90e6 // PostgreSQL took no block for more than a minute
    await inputs.read()
    expect(made).toEqual([])
    await node.post.step()
    await inputs.read()
    expect([made, inputs.peekUs()]).toEqual([[ACCOUNT], 12e6])
    await node.append(91e6)
    node.clock.us = 92e6
    await node.post.step()
    await inputs.read()
    expect(made).toEqual([ACCOUNT])
    await store.close()
  })

  test('a node begins at its stored rows when the database was set to an earlier state', async () => {
    const store = await open()
    const node = await openNode(store, 1)
    const inputs = () => createBlockInputs({ store, awaited: () => [1], ...NOTHING_MADE })
    await node.append(11e6)
    node.clock.us = 12e6
    await node.post.step()
    const backup = await store.feedPositions(1)
    await node.append(12e6)
    node.clock.us = 13e6
    await node.post.step()
    const { blocks } = await store.blocks([])
    // as a restored backup has it: the rows of before, and no block of later
    const passed = blocks.slice(1).map(({ seq }) => seq)
    await store.commitJudged({ ...NOTHING_JUDGED, judgedUs: 1, positions: backup, passed }, 1)
    await node.append(13e6)
    node.clock.us = 14e6
    await expect(node.post.step()).rejects.toThrow('earlier state')
    expect(await takeAll(inputs())).toEqual([recordAt(11e6)])
    await node.post.begin()
    await node.post.step()
    expect(await takeAll(inputs())).toEqual([11e6, 12e6, 13e6].map((us) => recordAt(us)))
    await store.close()
  })

  test('on another DATA_DIR a node hands over all of its log, and the stores are asked for what the former left', async () => {
    const store = await open()
    const former = await openNode(store, 1)
    for (const us of [11e6, 12e6, 13e6]) await former.append(us)
    former.clock.us = 14e6
    await former.post.step()
    const disk = new FakeDisk()
    const spool = await openOn(disk, { isFollowed: true })
    for (let us = 21e6; us <= 25e6; us += 1e6) await spool.append(recordAt(us), us)
    await spool.close()
    const passed = (await store.blocks([])).blocks.map(({ seq }) => seq)
    await store.commitJudged({ ...NOTHING_JUDGED, judgedUs: 1, passed }, 1)

    const node = await openNode(store, 1, disk, 'another directory')
    node.clock.us = 30e6
    await node.post.step()
    const inputs = () => createBlockInputs({ store, awaited: () => [1], ...NOTHING_MADE })
    expect(await takeAll(inputs())).toEqual([21e6, 22e6, 23e6, 24e6, 25e6].map((us) => recordAt(us)))
    expect(await store.seedUs()).toBe(14e6 - 1)
    const again = await openNode(store, 1, disk.clone(), 'another directory')
    await again.append(31e6)
    again.clock.us = 40e6
    await again.post.step()
    expect((await takeAll(inputs())).slice(5)).toEqual([recordAt(31e6)])
    await store.close()
  })

  test('a judge whose state is later than that of the database stores nothing', async () => {
    const store = await open()
    await store.commitJudged({ ...NOTHING_JUDGED, judgedUs: 20 }, 1)
    await store.commitJudged({ ...NOTHING_JUDGED, judgedUs: 30, beforeUs: 20 }, 1)
    await store.commitJudged({ ...NOTHING_JUDGED, judgedUs: 30, beforeUs: 20 }, 1) // its answer was lost
    await store.commitJudged({ ...NOTHING_JUDGED, judgedUs: 10 }, 1) // as a restored backup has it
    await expect(store.commitJudged({ ...NOTHING_JUDGED, judgedUs: 40, beforeUs: 30 }, 1)).rejects.toThrow('earlier')
    expect((await store.judged()).judgedUs).toBe(10)
    await store.close()
  })

  test('a block whose answer is lost, and one before a kill, are posted once', async () => {
    const store = await open()
    const node = await openNode(store, 1)
    await node.append(11e6)
    node.posting.addBlock = async (...args) => {
      await store.addBlock(...args)
      throw new Error('the answer is lost')
    }
    await expect(node.post.step()).rejects.toThrow('lost')
    node.posting.addBlock = store.addBlock
    await node.post.step()
    await node.append(12e6)
    await node.post.step()
    await drain(node.spools.points)
    await node.append(13e6)
    const again = await openNode(store, 1, node.disk.clone()) // its first step posts what came before the kill
    again.clock.us = 30e6
    await again.post.step()
    const inputs = createBlockInputs({ store, awaited: () => [1], ...NOTHING_MADE })
    expect(await takeAll(inputs)).toEqual([11e6, 12e6, 13e6].map((us) => recordAt(us)))
    await store.close()
  })
})
