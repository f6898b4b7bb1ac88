// What is asked of the stores for watches that are new, and how often.
import { expect, test } from 'bun:test'
import { createSeed, type KnownMark } from '../../../src/watch/engine/seed.ts'
import type { StoredWatch } from '../../../src/watch/watch.ts'
import { ACCOUNT, silent, watchOf } from '../watch-cast.ts'

const LATE = { every: '1h' }
const watches = Array.from({ length: 100 }, (_, i) => watchOf(`wat_${i}`, { process: `p${i}`, long: '1h' }))

/** A store that records which processes it was asked for. */
function openSeed(answer: () => Promise<KnownMark[]> = async () => []) {
  let now = 0
  const asked: (readonly string[] | undefined)[] = []
  const source = {
    async findMarks({ processes }: { readonly processes?: readonly string[] | undefined }) {
      asked.push(processes)
      return answer()
    },
  }
  const seed = createSeed({ source, nowUs: () => now, monotonicUs: () => now, log: silent })
  return {
    ...{ seed, asked },
    /** The rows to store after so many seconds. */
    async take(seconds: number) {
      now += seconds * 1e6
      seed.take()
      await Promise.resolve()
      await new Promise(setImmediate)
      return seed.take().flatMap(({ rows }) => rows)
    },
  }
}

test('a hundred watches that are made one after the other are two questions, and none after a restart', async () => {
  const one = openSeed()
  const rows = []
  for (let n = 1; n <= watches.length; n++) {
    one.seed.want(ACCOUNT, watches.slice(0, n))
    rows.push(...(await one.take(0.03)))
  }
  rows.push(...(await one.take(3)))
  expect(one.asked.map((it) => it?.length)).toEqual([67, 33])
  expect(rows).toHaveLength(watches.length)
  const next = openSeed()
  for (const row of rows) expect(next.seed.load(row)).toBe(true)
  next.seed.want(ACCOUNT, watches)
  await next.take(60)
  expect(next.asked).toEqual([])
  expect(next.seed.isOver()).toBe(true)
})

test.each<[string, StoredWatch, boolean]>([
  ['late for one process', watchOf('w', { late: LATE, failed: { after: 1, exceptions: true } }), false],
  ['late for a pattern', watchOf('w', { process: 'n*', late: LATE }), true],
  ['failed twice in a row', watchOf('w', { failed: { after: 2, exceptions: false } }), true],
  ['slow', watchOf('w', { slow: 2 }), true],
])('a watch %s: does it need what was before?', async (_, watch, isAsked) => {
  const { seed, asked, take } = openSeed()
  seed.want(ACCOUNT, [watch])
  await take(3)
  expect(asked).toHaveLength(isAsked ? 1 : 0)
  seed.want(ACCOUNT, [watch], 1)
  await take(3)
  expect(asked).toHaveLength(isAsked ? 2 : 1)
})

test('a store that does not answer is asked again after ten seconds', async () => {
  const { seed, asked, take } = openSeed(() => Promise.reject(new Error('the store is away')))
  seed.want(ACCOUNT, watches)
  await take(3)
  await take(8)
  expect(asked).toHaveLength(1)
  await take(3)
  expect(asked).toHaveLength(2)
})

test('an account has one question at a time; watches that are made meanwhile are asked about after it', async () => {
  const first = Promise.withResolvers<KnownMark[]>()
  const { seed, asked, take } = openSeed(() => first.promise)
  seed.want(ACCOUNT, watches.slice(0, 1))
  await take(3)
  seed.want(ACCOUNT, watches.slice(0, 2))
  await take(60)
  expect(asked).toHaveLength(1)
  first.resolve([])
  await take(1)
  await take(3)
  expect(asked.map((it) => it?.length)).toEqual([1, 2])
  expect(seed.isOver()).toBe(true)
})
