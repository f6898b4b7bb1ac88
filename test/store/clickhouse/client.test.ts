// The client against what is not ClickHouse, or is not there, or never answers.
import { describe, expect, spyOn, test } from 'bun:test'
import { EngineUnavailableError, openClickHouseClient } from '../../../src/store/clickhouse/client.ts'
import { ClickHouseFault } from '../../../src/store/clickhouse/judge-failure.ts'
import { createBoundedSelect } from '../../../src/store/clickhouse/selection.ts'
import { countTurns } from '../../support/count-turns.ts'
import { engineMissing, freshEmbedded } from '../../support/engine.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { until } from '../../support/until.ts'
import { placeRemote } from './subjects.ts'

const PASSWORD = 'pass-word'
const opening = (url: string, timeoutMs = 30_000) =>
  openClickHouseClient({ url, user: 'stint', password: PASSWORD, database: 'stint' }, timeoutMs)

/** Sends a statement that `answer` responds to; resolves to the fault. */
async function faultOf(answer: Receiver['answer'], timeoutMs?: number): Promise<unknown> {
  const server = startReceiver(answer)
  const client = await opening(server.url, timeoutMs)
  try {
    return await client.run('SELECT 1').catch((error: unknown) => error)
  } finally {
    await client.close()
    await server.close()
  }
}

describe('over HTTP', () => {
  test('nobody answers', async () => {
    const { promise, resolve } = Promise.withResolvers<Response>()
    const fault = await faultOf(() => promise, 100)
    resolve(new Response())
    expect(fault).toBeInstanceOf(ClickHouseFault)
    expect((fault as Error).message).toBe('no answer in time')
  })

  test.each([
    ['no header', {}],
    ['another header', { 'x-clickhouse': '1' }],
  ])("a proxy's 200 (%s) is no answer of ClickHouse's", async (_, headers) => {
    const fault = await faultOf(() => new Response('<html>Down for maintenance</html>', { headers }))
    expect(fault).toBeInstanceOf(ClickHouseFault)
    expect(fault).toMatchObject({ code: undefined, tooLarge: false })
    expect((fault as Error).message).toContain('a proxy in front of it answered')
  })

  test.each([
    ['no summary', { 'x-clickhouse-query-id': '1' }, 'confirmed 0 of 3 rows'],
    ['fewer rows', { 'x-clickhouse-summary': '{"read_rows":"3","written_rows":"2"}' }, 'confirmed 2 of 3 rows'],
    ['its rows', { 'x-clickhouse-summary': '{"read_rows":"3","written_rows":"3"}' }, undefined],
    ['more rows (a materialized view)', { 'x-clickhouse-summary': '{"written_rows":"6"}' }, undefined],
  ])('an INSERT of three rows is stored when ClickHouse confirms them: %s', async (_, headers, fault) => {
    const server = startReceiver(() => new Response('', { headers }))
    const client = await opening(server.url)
    const answer = client.run('INSERT INTO t FORMAT JSONCompactEachRow\n[1]\n[2]\n[3]', {}, 3)
    if (fault === undefined) expect(await answer).toBeUndefined()
    else await expect(answer).rejects.toThrow(fault)
    await client.close()
    await server.close()
  })

  test('the code counts, not the status', async () => {
    const answer = 'Code: 241. DB::Exception: Memory limit (total) exceeded. (MEMORY_LIMIT_EXCEEDED) (version 26.7.2.1)'
    for (const status of [200, 500]) {
      const headers = { 'x-clickhouse-exception-code': '241' }
      expect(await faultOf(() => new Response(answer, { status, headers }))).toMatchObject({ code: 241 })
    }
  })

  test.each([
    ['', 'nothing'],
    ['{"data":[{"a":1}', 'half a document'],
    ['{"data":[{"a":1}\nCode: 159. DB::Exception: Timeout exceeded. (TIMEOUT_EXCEEDED)', 'an exception amid the rows'],
  ])('a truncated answer (%p: %s) is an error', async (body) => {
    const server = startReceiver(() => new Response(body))
    const client = await opening(server.url)
    await expect(client.select('SELECT 1')).rejects.toBeInstanceOf(ClickHouseFault)
    await client.close()
    await server.close()
  })

  test("a path of the address is the proxy's, not the database", async () => {
    const server = startReceiver(() => new Response('', { headers: { 'x-clickhouse-query-id': '1' } }))
    for (const path of ['', '/', '/clickhouse', '/click/house']) {
      const client = await opening(server.url + path)
      await client.run('SELECT 1')
      await client.close()
    }
    const seen = server.requests.map(({ path }) => {
      const { pathname, searchParams } = new URL(path, server.url)
      return `${pathname} ${searchParams.get('database')}`
    })
    expect(seen).toEqual(['/ null', '/ null', '/clickhouse null', '/click/house null'])
    await server.close()
  })

  test.skipIf(engineMissing !== undefined)('prints nothing, whatever fails', async () => {
    const prints = (['debug', 'info', 'log', 'warn', 'error'] as const).map((name) => spyOn(console, name))
    const { address, leave } = await placeRemote()
    const client = await openClickHouseClient(address, 30_000)
    await expect(client.select('SELECT nope')).rejects.toMatchObject({ code: 47 })
    await expect(client.run('INSERT INTO nope VALUES (1)')).rejects.toMatchObject({ code: 60 })
    await client.close()
    await leave()
    for (const print of prints) {
      expect(print).not.toHaveBeenCalled()
      print.mockRestore()
    }
  })
})

describe.skipIf(engineMissing !== undefined)('embedded', () => {
  test('a long answer is decoded in pieces, which may part a character', async () => {
    const client = await openClickHouseClient(freshEmbedded(), 30_000)
    const decode = spyOn(TextDecoder.prototype, 'decode')
    const { result, turns } = await countTurns(() =>
      client.select<{ n: number; text: string }>(
        "SELECT number AS n, repeat('aä€😀', 30) AS text FROM numbers(10_000)",
      ),
    )
    const longest = Math.max(...decode.mock.calls.map(([bytes]) => bytes?.byteLength ?? 0))
    decode.mockRestore()
    expect(result.map(({ n }) => Number(n))).toEqual(Array.from({ length: 10_000 }, (_, i) => i))
    expect(new Set(result.map(({ text }) => text))).toEqual(new Set(['aä€😀'.repeat(30)]))
    expect(longest).toBeLessThanOrEqual(64 * 1024)
    expect(turns).toBeGreaterThan(20)
    await client.close()
  })

  const other = tempDir('other')

  test('an error for a directory that cannot be opened reports what to do', async () => {
    const client = await openClickHouseClient(freshEmbedded(), 1000)
    const failed = openClickHouseClient({ path: other }, 1000) // a process can hold one only
    await expect(failed).rejects.toBeInstanceOf(EngineUnavailableError)
    await expect(failed).rejects.toThrow('CLICKHOUSE_URL')
    await client.close()
  })

  test('settings of one statement do not affect the next', async () => {
    const client = await openClickHouseClient(freshEmbedded(), 1000)
    const limit = "SELECT getSetting('max_execution_time') AS s"
    expect(await client.select<{ s: number }>(`${limit} SETTINGS max_execution_time = 7`)).toEqual([{ s: 7 }])
    expect(await client.select<{ s: number }>(limit)).toEqual([{ s: 0 }])
    await client.close()
  })

  test('a parameter arrives as it is, and no text of it becomes SQL', async () => {
    const client = await openClickHouseClient(freshEmbedded(), 1000)
    const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).join('')
    const texts = ['', ascii, "\\'; SELECT 1 --", '{x:String}', '\\N', '\\x41', 'ü€😀\u2028', "'", '\\', 'NULL']
    for (const x of texts) {
      expect(await client.select('SELECT {x:String} AS text, length({x:String}) AS bytes', { x })).toEqual([
        { text: x, bytes: Buffer.byteLength(x) },
      ])
    }
    const numbers = { whole: 4_294_967_295, negative: -5, ns: '9223372036854775807' }
    const sql = 'SELECT {whole:UInt32} AS whole, {negative:Int64} AS negative, toString({ns:Int64}) AS ns'
    expect(await client.select(sql, numbers)).toEqual([numbers])
    await client.close()
  })

  test('a parameter lasts for its statement alone', async () => {
    const client = await openClickHouseClient(freshEmbedded(), 1000)
    const sql = 'SELECT {account:String} AS account'
    expect(await client.select(sql, { account: 'ada' })).toEqual([{ account: 'ada' }])
    expect(await client.select(sql)).toEqual([{ account: '' }])
    expect(await client.selectArrays(sql, { other: 1 })).toEqual([['']])
    await client.close()
  })

  test('a question with parameters does not wait for a long one of another account', async () => {
    const client = await openClickHouseClient(freshEmbedded(), 1000, 2)
    const ended: string[] = []
    const ask = async (account: string, seconds: number) => {
      const sql =
        'SELECT {account:String} AS account, sleepEachRow(0.1) FROM numbers({rows:UInt32}) SETTINGS max_block_size = 1'
      const rows = await client.select<{ account: string }>(sql, { account, rows: seconds * 10 }, { account })
      expect(rows.every((row) => row.account === account)).toBe(true)
      ended.push(account)
    }
    const long = ask('long', 1)
    await ask('short', 0.1)
    await long
    expect(ended).toEqual(['short', 'long'])
    await client.close()
  })

  test('the engine aborts a question that takes too long, and its rows do not appear in the next answer', async () => {
    const client = await openClickHouseClient(freshEmbedded(), 1000)
    const slow = "SELECT number, 'of somebody else' AS text, sleepEachRow(0.01) FROM numbers(1000)"
    const answers = await Promise.allSettled([
      client.select(`${slow} SETTINGS max_execution_time = 0.2, max_block_size = 10`),
      client.select('SELECT 1 AS one'),
      client.select('SELECT 2 AS two'),
    ])
    expect(answers).toMatchObject([
      { status: 'rejected', reason: { code: 159 } },
      { status: 'fulfilled', value: [{ one: 1 }] },
      { status: 'fulfilled', value: [{ two: 2 }] },
    ])
    await client.close()
  })

  test('an aborted question ends, and its connection answers the next one', async () => {
    const client = await openClickHouseClient(freshEmbedded(), 1000, 2)
    const select = createBoundedSelect(client)
    const page = new AbortController()
    const endless = 'SELECT count() FROM system.numbers WHERE sipHash64(number + {more:UInt8}) = 1'
    const left = select(endless, { more: 1 }, { account: 'ada', signal: page.signal }).catch((error) => error)
    const others = "SELECT 1 FROM system.processes WHERE query LIKE '%sipHash64%' AND query NOT LIKE '%processes%'"
    await until('the question runs', async () => (await client.select(others)).length > 0)
    page.abort()
    expect(await left).toMatchObject({ name: 'StoreError', cause: { code: 394 } })
    expect(await client.select('SELECT {more:UInt8} AS more', { more: 2 }, { account: 'ada' })).toEqual([{ more: 2 }])
    await client.close()
  })

  test('a closed connection fails instead of hanging', async () => {
    const client = await openClickHouseClient(freshEmbedded(), 1000)
    await client.close()
    await expect(client.select('SELECT 1')).rejects.toBeInstanceOf(ClickHouseFault)
  })
})
