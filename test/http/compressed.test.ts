// Compressed answers: what a client accepts decides, short answers stay plain, and the text is the same in every coding.
import { expect, test } from 'bun:test'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import {
  acceptedCoding,
  answerEncoded,
  compressedJson,
  createTextAnswers,
  encodeFor,
  encodeJson,
} from '../../src/http/compressed.ts'
import { countTurns } from '../support/count-turns.ts'

const asking = (accepted: string) => new Request('http://localhost/', { headers: { 'accept-encoding': accepted } })

test.each([
  ['', undefined],
  ['identity', undefined],
  ['br', undefined],
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'zstd'],
  ['GZIP;q=0.5', 'gzip'],
  ['zstd;q=0, gzip', 'gzip'],
  ['zstd; q=0.0, gzip;q=0', undefined],
  ['x-gzip', undefined],
] as const)('%p accepts %p', (accepted, coding) => {
  expect(acceptedCoding(asking(accepted))).toBe(coding)
})

const decode = async (answer: Response): Promise<string> => {
  const bytes = new Uint8Array(await answer.arrayBuffer())
  switch (answer.headers.get('content-encoding')) {
    case 'gzip':
      return gunzipSync(bytes).toString()
    case 'zstd':
      return zstdDecompressSync(bytes).toString()
    default:
      return new TextDecoder().decode(bytes)
  }
}

test.each(['', 'gzip', 'zstd'])('compresses a long answer with %p and forbids caching', async (coding) => {
  const body = { rows: Array.from({ length: 500 }, (_, i) => ({ process: 'nightly import', count: i })) }
  const answer = await compressedJson(asking(coding), body)
  expect(answer.headers.get('content-encoding') ?? '').toBe(coding)
  expect(answer.headers.get('vary')).toBe('accept-encoding')
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(JSON.parse(await decode(answer))).toEqual(body)
})

test.each(['', 'gzip', 'zstd'])("compresses a long text in Prometheus' format with %p", async (coding) => {
  const text = 'stint_runs_running{process="nightly import"} 0\n'.repeat(100)
  const answer = answerEncoded(asking(coding), await encodeFor(asking(coding), text))
  expect(answer.headers.get('content-encoding') ?? '').toBe(coding)
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect(await decode(answer)).toBe(text)
})

test('does not compress a short answer', async () => {
  const answer = await compressedJson(asking('gzip'), { rows: [] })
  expect([answer.headers.get('content-encoding'), await answer.text()]).toEqual([null, '{"rows":[]}'])
})

test.each([
  {},
  { next: null },
  { rows: [], next: undefined, cut: false },
  { a: [1, 'é "x"', null], b: { c: [{ d: undefined }] }, e: [[], [2]] },
])('%j is encoded as by JSON.stringify', async (body) => {
  expect((await encodeJson(body)).toString()).toBe(JSON.stringify(body))
})

test('a long answer is encoded in slices, between which other work has its turn', async () => {
  const body = { rows: Array.from({ length: 1000 }, (_, i) => ({ i, text: 'ä'.repeat(5000) })), next: null }
  const { result: bytes, turns } = await countTurns(() => encodeJson(body))
  expect(bytes.equals(Buffer.from(JSON.stringify(body)))).toBe(true)
  expect(turns).toBeGreaterThanOrEqual(30)
})

test('compresses a static text once per coding and keeps its headers', async () => {
  const answerText = createTextAnswers()
  const text = 'body { color: red } '.repeat(200)
  for (const coding of ['gzip', 'zstd', 'gzip', '']) {
    const answer = await answerText(asking(coding), 'style', text, new Headers({ 'content-type': 'text/css' }))
    expect([answer.headers.get('content-encoding') ?? '', answer.headers.get('content-type')]).toEqual([
      coding,
      'text/css',
    ])
    expect(await decode(answer)).toBe(text)
  }
})
