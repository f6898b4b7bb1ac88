// The work of the evaluation grows with events and due times, not with accounts: questions to the stores and reads of the database are counted.
import { expect, test } from 'bun:test'
import { createEvaluator } from '../../../src/watch/evaluate/evaluator.ts'
import type { KnownMark, WatchSource } from '../../../src/watch/evaluate/watch-source.ts'
import { inMemoryDir } from '../../support/temp-dir.ts'
import { openStore, silent, watchOf } from '../watch-cast.ts'

const S = 1e6
const ACCOUNTS = 40

test('an account without a new event or a due time is swept now and then and not read otherwise', async () => {
  let now = Date.UTC(2026, 10, 21) * 1000
  const store = openStore(inMemoryDir())
  const marks: (KnownMark & { account: string })[] = []
  const counts = { questions: 0, exceptions: 0, alerts: 0, commits: 0 }
  const source: WatchSource = {
    async findMarks({ account, fromUs, toUs }) {
      counts.questions++
      return marks.filter((it) => it.account === account && it.atUs >= fromUs && it.atUs < toUs).reverse()
    },
    findNewestStarts: async () => [],
    async findExceptions() {
      counts.exceptions++
      return []
    },
    aggregateMetrics: async () => [],
  }
  for (let i = 0; i < ACCOUNTS; i++) {
    const spec = { process: 'job', late: { every: '1h', grace: '5m' }, long: '10m' }
    const over = { account: `acc_${i}`, sinceUs: now, createdUs: now }
    await store.addWatch(watchOf(`wat_${i}`, { ...spec, failed: { after: 1, exceptions: true } }, over), 1)
  }
  const counted = {
    ...store,
    recentAlerts(account: string, sinceUs: number) {
      counts.alerts++
      return store.recentAlerts(account, sinceUs)
    },
    commit(...args: Parameters<typeof store.commit>) {
      counts.commits++
      return store.commit(...args)
    },
  }
  const evaluator = createEvaluator({
    ...{ store: counted, source, liveness: { blind: () => [], notice() {} }, maxRunUs: 86_400 * S, log: silent },
    nowUs: () => now,
    monotonicUs: () => now,
    oldestUnstoredUs: () => ({ points: undefined, exceptions: undefined }),
    publicUrl: () => '',
  })
  const send = (i: number, mark: KnownMark['mark']) => {
    marks.push({ account: `acc_${i}`, process: 'job', meta: '', uid: '', mark, atUs: now })
    evaluator.hint({ account: `acc_${i}`, process: 'job', kind: 'mark' })
  }
  const pass = async (seconds: number, each: (second: number) => void = () => {}) => {
    for (const name of Object.keys(counts) as (keyof typeof counts)[]) counts[name] = 0
    for (let i = 0; i < seconds; i++) {
      now += S
      each(i)
      await evaluator.step()
    }
    return { ...counts }
  }
  await pass(700) // everything is loaded, and swept once
  const idle = await pass(600)
  expect(idle.questions).toBeLessThanOrEqual(2 * ACCOUNTS)
  expect(idle.exceptions).toBeLessThanOrEqual(2 * ACCOUNTS)
  expect(idle.alerts).toBeLessThanOrEqual(2 * ACCOUNTS)
  expect(idle.commits).toBeLessThanOrEqual(600 / 15)

  // one run of each account within ten minutes: a read for its start and one for its end
  const busy = await pass(600, (second) => {
    if (second % 15 === 0) send(second / 15, 'start')
    if (second % 15 === 5 && second > 15) send((second - 20) / 15, 'end')
  })
  expect(busy.questions - idle.questions).toBeLessThanOrEqual(2 * 2 * ACCOUNTS)
  expect(busy.alerts - idle.alerts).toBeLessThanOrEqual(2 * 2 * ACCOUNTS)

  // each of them is late once, without a question before it is due
  const late = await pass(4200)
  expect((await store.countFiring()).size).toBe(ACCOUNTS)
  expect(late.questions).toBeLessThanOrEqual(2 * ACCOUNTS * 8)
  await store.close()
})
