// What live does within one turn of the event loop is little, however much waits for it.
import { expect, spyOn, test } from 'bun:test'
import {
  bytesOfProcess,
  createAccount,
  createProcess,
  dropProcesses,
  findProcess,
  type Process,
} from '../../src/live/account.ts'
import { addPage } from '../../src/live/build.ts'
import { createAround, createBoard } from '../../src/live/overview/board.ts'
import { countPerTurn } from '../support/count-turns.ts'
import { until } from '../support/until.ts'
import { HOUR, openCast, runAt, startAt, T0 } from './live-cast.ts'

test('of events that wait in the log few are folded within one turn', async () => {
  const cast = await openCast()
  cast.events.push(...runAt(T0 - HOUR, 1_000))
  const { account } = await cast.live.look('ada', false)
  const first = account.version
  let [most, before, isDone] = [0, first, false]
  const sample = () => {
    most = Math.max(most, account.version - before)
    before = account.version
    if (!isDone) setImmediate(sample)
  }
  setImmediate(sample)
  const many = Array.from({ length: 1_000 }, (_, i) => startAt(T0 - 5_000 + i, { process: `job ${i}` }))
  await Promise.all(many.map((event) => cast.send(event))) // the log has them in few groups
  await until('all are folded', () => account.version - first === 1_000) // one for each process
  isDone = true
  sample()
  expect(most).toBeLessThanOrEqual(120) // of a reading and of the slice after it, 40 each
})

/** Calls `note` for each process that a loop over all takes. */
class NotedProcesses extends Map<string, Process> {
  note = () => {}
  override values() {
    return super.values().map((process) => {
      this.note()
      return process
    })
  }
}

test('of many processes few are judged, or found to be judged already, within one turn', async () => {
  const processes = new NotedProcesses()
  for (let i = 0; i < 20_000; i++) processes.set(`job ${i}`, createProcess(`job ${i}`))
  const account = { ...createAccount('ada'), processes }
  const watched = { alerts: [], watches: [], unjudged: 0, failingChannels: 0 }
  const judging = { watched, decisions: [], nowUs: T0 * 1000, knownUs: T0 * 1000, maxRunUs: 86_400e6 }
  const board = createBoard()
  const judge = async (note: () => void) => {
    processes.note = note
    expect((await board.judge(account, createAround(judging), judging)).size).toBe(20_000)
  }
  expect(await countPerTurn(judge)).toBeLessThan(100)
  expect(await countPerTurn(judge)).toBeLessThan(1_000)
})

test('of a process with many metas few marks are paired within one turn', async () => {
  const account = createAccount('ada')
  const most = await countPerTurn(async (note) => {
    const marks = Array.from({ length: 12_000 }, (_, i) => ({
      ...{ process: 'job', meta: `zone ${i % 300}`, uid: `u${i}`, mark: 'start' as const, restNs: 0 },
      get ns() {
        note()
        return BigInt(T0 - i) * 1_000_000n
      },
    }))
    const page = { processes: ['job'], marks, starts: [], full: new Set<string>(), figures: [], isOpenHourWhole: true }
    const building = { nowUs: T0 * 1000, delivered: { points: 0, exceptions: 0 }, maxRunUs: 86_400e6, maxBytes: 1e9 }
    await addPage(account, page, [], { ...building, fingerprint: () => '' })
  })
  expect([...findProcess(account, 'job').rows.keys()]).toHaveLength(300)
  expect(most).toBeLessThan(2_000)
})

test('the times of a few of many processes decide which ones are the oldest', () => {
  const account = createAccount('ada')
  for (let i = 0; i < 20_000; i++) {
    const process = findProcess(account, `job ${(i * 7_919) % 20_000}`)
    process.seenUs = 1 + ((i * 7_919) % 20_000)
    account.bytes += bytesOfProcess(process)
  }
  const maxBytes = account.bytes / 2
  const sort = spyOn(Object.getPrototypeOf(Float64Array.prototype), 'sort')
  dropProcesses(account, { maxBytes })
  const sorted = sort.mock.contexts.map((times) => (times as Float64Array).length)
  sort.mockRestore()
  expect(sorted).toEqual([4_000])
  expect(account.bytes).toBeLessThan(1.05 * maxBytes)
  expect(account.processes.size + account.omitted).toBe(20_000)
  const newest = Array.from({ length: 9_000 }, (_, i) => `job ${19_999 - i}`)
  expect(newest.filter((name) => !account.processes.has(name))).toEqual([])
})
