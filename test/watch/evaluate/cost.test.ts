// The work of the evaluation grows with events and due times, not with accounts: questions to the stores and reads of the database are counted.
import { expect, test } from 'bun:test'
import type { KnownMark } from '../../../src/watch/evaluate/watch-source.ts'
import { inMemoryDir } from '../../support/temp-dir.ts'
import { ACCOUNT, evaluatorOf, openStore, sourceOf, watchOf } from '../watch-cast.ts'

const S = 1e6
const ACCOUNTS = 40

test('an account without a new event or a due time is swept now and then and not read otherwise', async () => {
  let now = Date.UTC(2026, 10, 21) * 1000
  const store = openStore(inMemoryDir())
  const marks: (KnownMark & { account: string })[] = []
  const counts = { questions: 0, exceptions: 0, alerts: 0, commits: 0 }
  const source = sourceOf({
    async findMarks({ account, fromUs, toUs }) {
      counts.questions++
      return marks.filter((it) => it.account === account && it.atUs >= fromUs && it.atUs < toUs).reverse()
    },
    async findExceptions() {
      counts.exceptions++
      return []
    },
  })
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
  const evaluator = evaluatorOf({ store: counted, source, nowUs: () => now })
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

test('the first load of many accounts is three questions each, and an account that is loaded does not wait for it', async () => {
  let now = Date.UTC(2026, 10, 21) * 1000
  const store = openStore(inMemoryDir())
  const asked: string[] = []
  // a question takes 0.1 s
  const answer = async ({ account }: { account: string }) => {
    asked.push(account)
    now += 0.1 * S
    return []
  }
  const spec = { process: 'job', late: { every: '30d', grace: '5m' }, failed: { after: 1, exceptions: true } }
  const add = (account: string) =>
    store.addWatch(watchOf(`wat_${account}`, spec, { account, sinceUs: now, createdUs: now }), 1)
  const source = { findMarks: answer, findNewestStarts: answer, findExceptions: answer, aggregateMetrics: answer }
  const evaluator = evaluatorOf({ store, source, nowUs: () => now })
  await add('acc_loaded')
  await evaluator.step()
  for (let i = 0; i < 100; i++) await add(`acc_${i}`)
  now += 601 * S // the list of accounts is read again
  await evaluator.step()
  expect(new Set(asked).size).toBeLessThan(40) // the round ended before all were loaded
  now += S
  evaluator.hint({ account: 'acc_loaded', process: 'job', kind: 'mark' })
  await evaluator.step()
  now += 16 * S
  asked.length = 0
  await evaluator.step()
  expect(asked.slice(0, 12)).toContain('acc_loaded')
  for (let i = 0; i < 30; i++) await evaluator.step()
  asked.length = 0
  now += 300 * S
  await evaluator.step()
  expect(asked.length).toBeLessThanOrEqual(3) // all are loaded: only the stores' health is asked for
  await store.close()
})

test('a watch that is added while watches are being read is evaluated in the next round', async () => {
  let now = Date.UTC(2026, 10, 21) * 1000
  const store = openStore(inMemoryDir())
  const asked: string[] = []
  const source = sourceOf({
    async findMarks({ account }) {
      asked.push(account)
      return []
    },
  })
  const add = async (account: string, id: string) => {
    const spec = { process: id, late: { every: '1h', grace: '5m' } }
    await store.addWatch(watchOf(id, spec, { account, sinceUs: now, createdUs: now }), 9)
    evaluator.hurry(account)
  }
  /** The answer of the database is on its way while another watch is added. */
  let meanwhile: (() => Promise<void>) | undefined
  const slow = {
    ...store,
    async watches(account?: string) {
      const read = await store.watches(account)
      const work = meanwhile
      meanwhile = undefined
      await work?.()
      return read
    },
  }
  const evaluator = evaluatorOf({ store: slow, source, nowUs: () => now })
  const evaluated = async () => {
    asked.length = 0
    for (let i = 0; i < 4; i++) {
      now += S / 2
      await evaluator.step()
    }
    return [...new Set(asked)].sort()
  }
  await add('acc_a', 'wat_1')
  meanwhile = () => add('acc_b', 'wat_2')
  expect(await evaluated()).toEqual(['acc_a', 'acc_b']) // the list of all accounts was being read

  const reads: string[] = []
  const { watches } = slow
  slow.watches = async (account) => {
    const found = await watches(account)
    reads.push(found.map(({ id }) => id).join())
    return found
  }
  meanwhile = () => add('acc_a', 'wat_4')
  await add('acc_a', 'wat_3')
  await evaluated()
  expect(reads).toEqual(['wat_1,wat_3', 'wat_1,wat_3,wat_4'])
  await store.close()
})

test('new watches of metrics share their questions until a figure crosses its number', async () => {
  let now = Date.UTC(2026, 10, 21) * 1000
  const store = openStore(inMemoryDir())
  const points: { process: string; value: number; atUs: number }[] = []
  let questions = 0
  const source = sourceOf({
    async aggregateMetrics({ fromUs, toUs, process }) {
      questions++
      const own = points.filter((it) => it.atUs >= fromUs && it.atUs < toUs && it.process === (process ?? it.process))
      return [...Map.groupBy(own, (it) => it.process)].map(([name, them]) => {
        const { value } = them.at(-1)!
        const figures = { count: them.length, mean: value, min: value, max: value, last: value }
        return { process: name, name: 'rows', atUs: fromUs, ...figures }
      })
    },
  })
  const metric = { name: 'rows', window: '1h', of: 'last', above: 100 } as const
  for (let i = 0; i < ACCOUNTS; i++)
    await store.addWatch(
      watchOf(`wat_${i}`, { process: `job ${i}`, metric }, { sinceUs: now, createdUs: now }),
      ACCOUNTS,
    )
  const evaluator = evaluatorOf({ store, source, nowUs: () => now })
  const pass = async (value: number) => {
    questions = 0
    for (let second = 0; second < 60; second++) {
      now += S
      for (let i = 0; i < ACCOUNTS && second % 15 === 0; i++) {
        points.push({ process: `job ${i}`, value: i === 0 ? value : 1, atUs: now })
        evaluator.hint({ account: ACCOUNT, process: `job ${i}`, kind: 'metrics' })
      }
      await evaluator.step()
    }
    return questions
  }
  const calm = await pass(1)
  expect(calm).toBeLessThan(10)
  expect(await pass(101)).toBeLessThan(calm + 10)
  expect((await store.countFiring()).get(ACCOUNT)).toBe(1)
  await store.close()
})
