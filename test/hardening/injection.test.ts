// No string of a caller's changes the text of a question to a store, in which it is a bound parameter or one string literal. The account
// always is the one that was handed in. That texts are stored unchanged: test/contract/sink.ts and naughty-strings.slow.ts.
import { afterAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createSchema } from '../../src/store/clickhouse/schema.ts'
import { createClickHouseSource } from '../../src/store/clickhouse/source.ts'
import { createInfluxSource } from '../../src/store/influx/source.ts'
import type { ExceptionSource, PointSource } from '../../src/store/source.ts'
import { serveStub } from '../store/influx/stub-server.ts'

const ACCOUNT = 'acc_0123456789abcdef'

/** Text made of what means something to one of the stores, among anything else. */
const SIGNS = [...'\\"\'`,= \n\r\t\0{}();#%i0\u001f\u007f\u2028😀é', '$' + '{', '--', '/*', '|>', '\\x00']
const PHRASES = ['{account:String}', "' OR 1=1 --", 'account=acc_other', ' 1795211562171920042']
const hostile = fc.oneof(
  fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
  fc.array(fc.constantFrom(...SIGNS, ...PHRASES), { maxLength: 12 }).map((parts) => parts.join('')),
)

/** The kept part of a text, written independently of the code under test. */
const keptOf = (text: string) => text.replace(/['"%\u0000-\u001f\u007f]/g, '').replace(/\\+$/, '')
const name = hostile.map(keptOf).filter((text) => text !== '')
const uid = fc.stringMatching(/^[a-z0-9_-]{0,50}$/)

/** Every question there is, about whatever strings. */
interface Asked {
  account: string
  process: string
  meta: string
  uid: string
  name: string
  fingerprint: string
}
async function askAll(source: PointSource & Partial<ExceptionSource>, s: Asked): Promise<void> {
  const range = { account: s.account, fromNs: 1_000_000_000n, toNs: 2_000_000_000n, process: s.process, meta: s.meta }
  const timings = { ...range, uid: s.uid, maxRunNs: 60n, nowNs: 3_000_000_000n }
  const page = { limit: 10, after: { ns: 1_500_000_000n, tie: s.name } }
  const quiet = async (answer: Promise<unknown>) => void (await answer.catch(() => undefined)) // only what is asked matters
  await quiet(source.countMarks(range))
  await quiet(source.findTimings(timings, page))
  await quiet(source.findTimings({ ...timings, states: ['completed'], asOfNs: 5n }, { limit: 10 }))
  await quiet(source.summarizeTimings({ ...timings, byMeta: true, everyNs: 1_000_000n }))
  await quiet(source.findMetrics({ ...range, name: s.name, uid: s.uid }, page))
  await quiet(source.aggregateMetrics({ ...range, name: s.name, uid: s.uid, everyNs: 1_000_000n }))
  await quiet(source.findPointProcesses(range))
  await quiet(source.findPointProcesses({ ...range, byMeta: true }))
  if (source.findExceptions === undefined) return
  await quiet(source.findExceptions({ ...range, fingerprint: s.fingerprint, uid: s.uid }, page))
  await quiet(
    source.findMoments!({ ...range, subjects: [{ process: s.process, meta: s.meta }], limitEach: 1, limit: 1 }),
  )
  await quiet(source.groupExceptions!({ ...range, fingerprint: s.fingerprint, everyNs: 1_000_000n }, page))
  await quiet(source.findExceptionProcesses!(range))
}
const HARMLESS: Asked = { account: ACCOUNT, process: 'p0', meta: 'm0', uid: 'u', name: 'n0', fingerprint: 'v1:00' }
const asked = fc
  .record({ process: name, meta: name, uid, name, fingerprint: hostile })
  .map((s) => ({ ...s, account: ACCOUNT }))

describe('questions to ClickHouse', () => {
  const statements: { sql: string; params: Readonly<Record<string, unknown>> }[] = []
  const source = createClickHouseSource(
    {
      run: () => Promise.reject(new Error('a question changes nothing')),
      selectArrays: () => Promise.reject(new Error('only copies read whole tables')),
      select: async (sql, params = {}) => {
        statements.push({ sql, params })
        return []
      },
      kill: async () => {},
      close: async () => {},
    },
    createSchema('stint'),
  )
  const ask = async (s: Asked) => {
    statements.length = 0
    await askAll(source, s)
    return statements.map((statement) => ({ ...statement }))
  }

  test('have the same text for all values, with the account bound', async () => {
    const usual = await ask(HARMLESS)
    expect(usual.length).toBeGreaterThanOrEqual(9)
    await fc.assert(
      fc.asyncProperty(asked, async (s) => {
        const found = await ask({ ...s, uid: s.uid || 'u' })
        expect(found.map(({ sql }) => sql)).toEqual(usual.map(({ sql }) => sql))
        expect(found.every(({ sql, params }) => sql.includes('{account:String}') && params.account === ACCOUNT)).toBe(
          true,
        )
      }),
      { numRuns: 25 },
    )
  })
})

describe('questions to InfluxDB', () => {
  const queries: string[] = []
  const server = serveStub(async (request) => {
    queries.push(((await request.json()) as { query: string }).query)
    return new Response('', { headers: { 'content-type': 'text/csv' } })
  })
  const source = createInfluxSource({ url: server.url, token: 't', org: 'o', bucket: 'b' })
  afterAll(async () => {
    await source.close()
    await server.stop()
  })
  const ask = async (s: Asked) => {
    queries.length = 0
    await askAll(source, s)
    return [...queries]
  }

  /** Flux with its string literals taken out, and what they say. Throws for a literal without an end. */
  function splitLiterals(flux: string): { skeleton: string; literals: string[] } {
    const literals: string[] = []
    let skeleton = ''
    for (let at = 0; at < flux.length; at++) {
      if (flux[at] !== '"') {
        skeleton += flux[at]
        continue
      }
      let text = ''
      for (at++; flux[at] !== '"'; at++) {
        if (at >= flux.length) throw new Error('a literal without an end')
        if (flux[at] === '$' && flux[at + 1] === '{') throw new Error('an interpolation')
        if (flux[at] !== '\\') text += flux[at]
        else if (flux[++at] === 'x') {
          text += String.fromCharCode(Number.parseInt(flux.slice(at + 1, at + 3), 16))
          at += 2
        } else text += { n: '\n', r: '\r', t: '\t' }[flux[at]!] ?? flux[at]
      }
      literals.push(text)
      skeleton += '""'
    }
    return { skeleton, literals }
  }

  test('differ only in string literals with exactly the given values', async () => {
    const usual = (await ask(HARMLESS)).map(splitLiterals)
    expect(usual.length).toBeGreaterThanOrEqual(6)
    await fc.assert(
      fc.asyncProperty(asked, async (s) => {
        const own = { ...s, uid: 'u' } // enters as the number of its hash
        const found = (await ask(own)).map(splitLiterals)
        expect(found.map(({ skeleton }) => skeleton)).toEqual(usual.map(({ skeleton }) => skeleton))
        const replaced: Record<string, string> = { p0: own.process, m0: own.meta, u: own.uid, n0: own.name }
        expect(found.map(({ literals }) => literals)).toEqual(
          usual.map(({ literals }) => literals.map((literal) => replaced[literal] ?? literal)),
        )
        expect(found.every(({ literals }) => literals.includes(ACCOUNT))).toBe(true)
      }),
      { numRuns: 12 },
    )
  })
})
