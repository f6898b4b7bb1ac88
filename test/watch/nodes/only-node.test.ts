// The only node on real spools and a real watches.sqlite. A kill is a node that is left alone; the next one opens what it stored.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createOnlyNode, type WatchNode } from '../../../src/watch/nodes/watch-node.ts'
import type { WatchStore } from '../../../src/watch/storage/create-watch-store.ts'
import { drain } from '../../spool/spool-trial.ts'
import { inMemoryDir } from '../../support/temp-dir.ts'
import { until } from '../../support/until.ts'
import { ACCOUNT, openStore, watchOf } from '../watch-cast.ts'
import { accept, closeSpools, openSpools, optionsOf, type Spools } from './node-cast.ts'

let dir: string
let store: WatchStore
beforeEach(() => {
  dir = inMemoryDir()
  store = openStore(dir)
})
afterEach(() => store.close())

const BEGAN_US = Date.now() * 1000
let aheadUs = 0
const nowUs = () => Date.now() * 1000 + aheadUs
let isRefusing = false
let refusals = 0

const openNode = (spools: Spools, kept = store) =>
  createOnlyNode({
    ...optionsOf(spools, nowUs),
    store: kept,
    accepts() {
      if (isRefusing) refusals++
      return !isRefusing
    },
  })

/** In steps that are less than a pause. */
async function pass(node: WatchNode, seconds: number): Promise<void> {
  for (let passedS = 0; passedS < seconds; passedS += 3) {
    const before = nowUs()
    await until('this time is judged', () => node.judgedUs() >= before - 1e6)
    aheadUs += 3e6
  }
}

const lateAlerts = async () => (await store.openAlerts(ACCOUNT)).filter(({ condition }) => condition === 'late')

test('events that were delivered before the first commit of a node that was killed are judged by the next one', async () => {
  await store.addWatch(watchOf('job', { process: 'job', failed: { after: 1, exceptions: false } }), 9)
  const spools = await openSpools(dir)
  // it is killed before it judges anything: the database takes none of its commits
  const killed = openNode(spools, { ...store, commitJudged: () => new Promise(() => {}) })
  await killed.start()
  await accept(spools, 'failed', 'job', nowUs())
  expect((await drain(spools.points)).length).toBe(1) // it is in its store
  await closeSpools(spools)

  const again = await openSpools(dir)
  const node = openNode(again)
  await node.start()
  await until('the failure is an alert', async () => (await store.openAlerts(ACCOUNT)).length === 1)
  await node.stop()
  await closeSpools(again)
})

test('a commit of the judge stores the sign of life: without a further transaction', async () => {
  const stored: number[] = []
  const commitJudged: WatchStore['commitJudged'] = (judged, atUs) => {
    // without one, a downtime is to be stored first: this machine stood still for 5 s
    if (judged.aliveUs !== undefined) stored.push(judged.aliveUs)
    return store.commitJudged(judged, atUs)
  }
  const spools = await openSpools(dir)
  const node = openNode(spools, { ...store, commitJudged })
  await node.start()
  await until('it is stored', () => stored.length > 0)
  await node.stop()
  await closeSpools(spools)
  expect(Math.min(...stored)).toBeGreaterThanOrEqual(BEGAN_US)
  expect((await store.alive()).aliveUs).toBeGreaterThanOrEqual(Math.max(...stored))
})

test('a start that is missing is waited for if an earlier process refused events of its account', async () => {
  const [beganUs, graceUs] = [nowUs(), 10e6]
  const times = { createdUs: 0, sinceUs: beganUs - 600e6 } // due now
  await store.addWatch(watchOf('job', { process: 'job', late: { every: '10m', grace: '10s' } }, times), 9)
  await store.putRefused(0, [{ account: ACCOUNT, fromUs: beganUs - 60e6, toUs: beganUs + 20e6 }], beganUs)
  const spools = await openSpools(dir)
  const node = openNode(spools)
  await node.start()
  await pass(node, 12)
  await until('the grace is over', () => node.judgedUs() > beganUs + graceUs)
  expect(node.waiting()).toMatchObject([{ watch: 'job', condition: 'late', lost: { account: ACCOUNT } }])
  expect(await lateAlerts()).toEqual([])
  await node.stop()
  await closeSpools(spools)
})

test('while the spool refuses everything nothing is late: its start may be among what is refused', async () => {
  const late = { every: '30s', grace: '5s' }
  await store.addWatch(watchOf('refused', { process: 'refused', late }, { createdUs: nowUs(), sinceUs: nowUs() }), 9)
  const spools = await openSpools(dir)
  const node = openNode(spools)
  await node.start()
  isRefusing = true
  await until('it is noticed', () => refusals > 0)
  await pass(node, 42)
  await until('the start is waited for', () => node.waiting()?.length === 1)
  expect(node.waiting()).toMatchObject([{ watch: 'refused', condition: 'late' }])
  expect(await lateAlerts()).toEqual([])
  await node.stop()
  await closeSpools(spools)
})
