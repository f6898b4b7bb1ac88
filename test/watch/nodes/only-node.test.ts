// The only node on real spools and a real watches.sqlite. A kill is a node that is left alone; the next one opens what it stored.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Event } from '../../../src/event/event.ts'
import { toRecord } from '../../../src/event/record.ts'
import { openSpool } from '../../../src/spool/open-spool.ts'
import { applyRecord } from '../../../src/watch/log/apply-record.ts'
import { createOnlyNode } from '../../../src/watch/nodes/watch-node.ts'
import type { WatchStore } from '../../../src/watch/storage/create-watch-store.ts'
import { drain } from '../../spool/spool-trial.ts'
import { inMemoryDir } from '../../support/temp-dir.ts'
import { until } from '../../support/until.ts'
import { ACCOUNT, openStore, silent, watchOf } from '../watch-cast.ts'

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

const openSpools = async () => {
  const openOne = (name: string) =>
    openSpool({ dir: join(dir, name), maxBytes: 2 ** 24, minFreeBytes: 0, isFollowed: true, log: silent })
  return { points: await openOne('points'), exceptions: await openOne('exceptions') }
}
type Spools = Awaited<ReturnType<typeof openSpools>>

const openNode = (spools: Spools, kept = store) =>
  createOnlyNode({
    ...{
      spools,
      receivingUs: () => undefined,
      store: kept,
      nowUs,
      logUs: nowUs,
      monotonicUs: nowUs,
      maxRunUs: 86_400e6,
      log: silent,
    },
    source: { findMarks: async () => [] },
    accepts() {
      if (isRefusing) refusals++
      return !isRefusing
    },
    lastArrivalUs: () => 0,
    publicUrl: () => 'https://stint.example',
    apply: (judge, record, arrivedUs) => applyRecord(judge, record, arrivedUs, async () => false),
    deliver: async () => 'nothing is sent here',
    meter: { delivered() {}, failed() {}, seconds() {}, alertSeconds() {} },
  })

test('events that were delivered before the first commit of a node that was killed are judged by the next one', async () => {
  await store.addWatch(watchOf('job', { process: 'job', failed: { after: 1, exceptions: false } }), 9)
  const spools = await openSpools()
  // it is killed before it judges anything: the database takes none of its commits
  const killed = openNode(spools, { ...store, commitJudged: () => new Promise(() => {}) })
  await killed.start()
  const failed: Event = {
    ...{ kind: 'end', account: ACCOUNT, process: 'job', meta: '', uid: '', failed: true },
    stamp: { us: nowUs(), sub: 0 },
  }
  await spools.points.append(toRecord(failed), failed.stamp.us, ACCOUNT)
  expect((await drain(spools.points)).length).toBe(1) // it is in its store
  await Promise.all([spools.points.close(), spools.exceptions.close()])

  const again = await openSpools()
  const node = openNode(again)
  await node.start()
  await until('the failure is an alert', async () => (await store.openAlerts(ACCOUNT)).length === 1)
  await node.stop()
  await Promise.all([again.points.close(), again.exceptions.close()])
})

test('a commit of the judge stores the sign of life: without a further transaction', async () => {
  const stored: number[] = []
  const commitJudged: WatchStore['commitJudged'] = (judged, atUs) => {
    // without one, a downtime is to be stored first: this machine stood still for 5 s
    if (judged.aliveUs !== undefined) stored.push(judged.aliveUs)
    return store.commitJudged(judged, atUs)
  }
  const spools = await openSpools()
  const node = openNode(spools, { ...store, commitJudged })
  await node.start()
  await until('it is stored', () => stored.length > 0)
  await node.stop()
  await Promise.all([spools.points.close(), spools.exceptions.close()])
  expect(Math.min(...stored)).toBeGreaterThanOrEqual(BEGAN_US)
  expect((await store.alive()).aliveUs).toBeGreaterThanOrEqual(Math.max(...stored))
})

test('while the spool refuses everything nothing is late: its start may be among what is refused', async () => {
  const late = { every: '30s', grace: '5s' }
  await store.addWatch(watchOf('refused', { process: 'refused', late }, { createdUs: nowUs(), sinceUs: nowUs() }), 9)
  const spools = await openSpools()
  const node = openNode(spools)
  await node.start()
  isRefusing = true
  await until('it is noticed', () => refusals > 0)
  for (let passedS = 0; passedS < 42; passedS += 3) {
    const before = nowUs()
    await until('this time is judged', () => node.judgedUs() >= before - 1e6)
    aheadUs += 3e6 // less than a pause
  }
  await until('the start is waited for', () => node.waiting()?.length === 1)
  expect(node.waiting()).toMatchObject([{ watch: 'refused', condition: 'late' }])
  expect((await store.openAlerts(ACCOUNT)).filter(({ condition }) => condition === 'late')).toEqual([])
  await node.stop()
  await Promise.all([spools.points.close(), spools.exceptions.close()])
})
