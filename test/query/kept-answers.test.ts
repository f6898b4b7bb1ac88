// Which requests share an answer.
import { expect, test } from 'bun:test'
import type { Reader } from '../../src/query/desk.ts'
import { createKeptAnswers } from '../../src/query/kept-answers.ts'

test('a shared question is aborted when the last page that waits for it has left, and not before', async () => {
  const { share } = createKeptAnswers(() => 0)
  const asked: Reader[] = []
  const pages = [0, 1].map(() => new AbortController())
  const ask = ({ signal: left }: AbortController) =>
    share({ account: 'ada', words: 'x', maxAgeMs: 1_000, left }, (reader) => {
      asked.push(reader)
      return new Promise<never>((_, reject) => reader.left!.addEventListener('abort', () => reject(new Error('left'))))
    }).catch((error: Error) => error.message)
  const answers = pages.map(ask)
  pages[0]!.abort()
  expect(asked.map(({ left }) => left!.aborted)).toEqual([false])
  pages[1]!.abort()
  expect(await Promise.all(answers)).toEqual(['left', 'left'])
  void ask(new AbortController()) // a reload does not get the failure of the page before
  expect(asked.map(({ left }) => left!.aborted)).toEqual([true, false])
})

test('a shared answer counts as sent when all who asked have read it or left', async () => {
  const { share } = createKeptAnswers(() => 0)
  let isSent = false
  const ask = (left?: AbortSignal) =>
    share({ account: 'ada', words: 'x', maxAgeMs: 1_000, ...(left && { left }) }, async ({ sent }) => {
      void sent!.then(() => (isSent = true))
      return { size: 0 }
    })
  const leaving = new AbortController()
  const [first] = await Promise.all([ask(), ask(leaving.signal)])
  first!.noteSent()
  first!.noteSent()
  await Promise.resolve()
  expect(isSent).toBe(false)
  leaving.abort()
  await Promise.resolve()
  expect(isSent).toBe(true)
})

test('kept answers are bounded by their bytes and their age; what would be kept the shortest goes first', async () => {
  let nowMs = 0
  let asked = 0
  const { share } = createKeptAnswers(() => nowMs)
  const ask = async (words: string, mib: number, maxAgeMs = 2_000) => {
    const wanted = { account: 'ada', words, maxAgeMs }
    return (await share(wanted, async () => ({ n: ++asked, size: mib * 1024 ** 2 }))).answer.n
  }
  expect([await ask('a', 20), await ask('b', 12), await ask('a', 20)]).toEqual([1, 2, 1])
  expect([await ask('c', 1), await ask('b', 12), await ask('a', 20)]).toEqual([3, 2, 4])
  expect([await ask('c', 1), await ask('b', 12), await ask('d', 40)]).toEqual([3, 5, 6])
  expect([await ask('d', 1), await ask('a', 1)]).toEqual([7, 8])
  nowMs = 10_001
  expect([await ask('e', 32), await ask('e', 32)]).toEqual([9, 9]) // those before it are too old to count
  nowMs = 30_000
  expect([await ask('hour', 20, 3_600_000), await ask('f', 12), await ask('g', 12)]).toEqual([10, 11, 12])
  expect([await ask('hour', 20, 3_600_000), await ask('f', 12)]).toEqual([10, 13])
})
