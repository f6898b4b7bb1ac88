// Which requests share an answer.
import { expect, test } from 'bun:test'
import { createSharedAnswers } from '../../../src/http/questions/shared-answers.ts'
import type { Reader } from '../../../src/query/limit-questions.ts'

test('a shared question is aborted when the last page that waits for it has left, and not before', async () => {
  const shared = createSharedAnswers(() => 0)
  const asked: Reader[] = []
  const pages = [0, 1].map(() => new AbortController())
  const ask = ({ signal }: AbortController) => {
    const request = new Request('http://stint/x', { headers: { 'cache-control': 'max-age=1' }, signal })
    return shared(request, 'ada', (reader) => {
      asked.push(reader)
      return new Promise<never>((_, reject) => reader.left!.addEventListener('abort', () => reject(new Error('left'))))
    }).catch((error: Error) => error.message)
  }
  const answers = pages.map(ask)
  pages[0]!.abort()
  expect(asked.map(({ left }) => left!.aborted)).toEqual([false])
  pages[1]!.abort()
  expect(await Promise.all(answers)).toEqual(['left', 'left'])
  void ask(new AbortController()) // a reload does not get the failure of the page before
  expect(asked.map(({ left }) => left!.aborted)).toEqual([true, false])
})

test('a shared answer counts as sent when all who asked have read it or left', async () => {
  const shared = createSharedAnswers(() => 0)
  let isSent = false
  const ask = (signal?: AbortSignal) => {
    const headers = { 'cache-control': 'max-age=1' }
    return shared(new Request('http://stint/x', { headers, ...(signal && { signal }) }), 'ada', async ({ sent }) => {
      void sent!.then(() => (isSent = true))
      return { bytes: '' }
    })
  }
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

test('shared answers are bounded by their bytes and their age, the oldest go first', async () => {
  let nowMs = 0
  let asked = 0
  const shared = createSharedAnswers(() => nowMs)
  const ask = async (path: string, mib: number) => {
    const request = new Request(`http://stint/${path}`, { headers: { 'cache-control': 'max-age=2' } })
    const { answer } = await shared(request, 'ada', async () => ({ n: ++asked, bytes: { length: mib * 1024 ** 2 } }))
    return answer.n
  }
  expect([await ask('a', 20), await ask('b', 12), await ask('a', 20)]).toEqual([1, 2, 1])
  expect([await ask('c', 1), await ask('b', 12), await ask('a', 20)]).toEqual([3, 2, 4])
  expect([await ask('c', 1), await ask('b', 12), await ask('d', 40)]).toEqual([3, 5, 6])
  expect([await ask('d', 1), await ask('a', 1)]).toEqual([7, 8])
  nowMs = 10_001
  expect([await ask('e', 32), await ask('e', 32)]).toEqual([9, 9]) // those before it are too old to count
})
