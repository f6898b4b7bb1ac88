// Exports of exceptions: every text whole and once, page by page, at the pace of the reader.
import { expect, test } from 'bun:test'
import type { Exception } from '../../src/event/event.ts'
import { Problem } from '../../src/problem.ts'
import type { ExceptionSource } from '../../src/store/source.ts'
import { memoryQuestions, NOW_NS } from '../support/memory-questions.ts'
import { createMemorySource } from '../support/memory-source.ts'

const NOW_US = Number(NOW_NS / 1000n)

function open(texts: readonly string[], changes: Partial<ExceptionSource> = {}, maxExported = 5_000) {
  const events = texts.map(
    (exception, i): Exception => ({
      ...{ kind: 'exception', account: 'a', process: 'p, "q"', meta: '', exception },
      stamp: { us: NOW_US - 1_000 - i, sub: 0 },
    }),
  )
  const { exceptions } = createMemorySource(events)
  const questions = memoryQuestions(events, { exceptions: { ...exceptions, ...changes }, maxExported })
  return (query: string, account = 'a') => questions.export(account, new URLSearchParams(query))
}
const all = async (file: AsyncIterable<string>) => (await Array.fromAsync(file)).join('')

test('JSON lines hold every text whole and once, over several pages', async () => {
  const texts = Array.from({ length: 2_500 }, (_, i) => `Error ${i}: "\n${'ü\u2028'.repeat(50)}`)
  const lines = (await all((await open(texts)('format=jsonl')).file)).split('\n').slice(0, -1)
  expect(lines.map((line) => JSON.parse(line).exception)).toEqual(texts)
})

test('CSV is quoted, and what a spreadsheet would run gets an apostrophe', async () => {
  const { file } = await open(['=1+1', 'a\r\n"b"', ''])('')
  expect((await all(file)).replaceAll(/2025[^,]*Z|v5:\w+/g, '…')).toBe(
    'at,process,meta,uid,exception,fingerprint\r\n…,"p, ""q""",,,\'=1+1,…\r\n…,"p, ""q""",,,"a\r\n""b""",…\r\n…,"p, ""q""",,,,…\r\n',
  )
})

test('filters apply, other accounts get nothing, and more than the limit is refused before the first byte', async () => {
  const ask = open(['disk full', 'DISK failed', 'other'], {}, 2)
  expect((await all((await ask('text=disk&format=jsonl')).file)).split('\n')).toHaveLength(3)
  expect(await all((await ask('format=jsonl', 'b')).file)).toBe('')
  const refused = await ask('').catch((error) => error)
  expect(refused).toBeInstanceOf(Problem)
  expect([refused.code, refused.detail]).toEqual([
    'question_too_large',
    'The export would have 3 exceptions; at most 2 are possible. Ask for a shorter range or for one process.',
  ])
})

test('a page is read only when the one before was taken', async () => {
  let pages = 0
  const { exceptions } = createMemorySource([])
  const rows = Array.from({ length: 1_000 }, () => ({
    ...{ atNs: 1n, process: 'p', meta: '', uid: '', exception: 'x'.repeat(1_000), fingerprint: 'v4:00' },
    place: { ns: 1n, tie: '' },
  }))
  const findExceptions = async () => {
    pages++
    return pages > 3 ? [] : rows
  }
  const { file } = await open([], { ...exceptions, findExceptions })('')
  expect(pages).toBe(0)
  await file.next()
  expect(pages).toBe(1)
  await Array.fromAsync(file)
  expect(pages).toBe(4)
})
