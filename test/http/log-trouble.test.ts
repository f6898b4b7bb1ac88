import { expect, test } from 'bun:test'
import { join } from 'node:path'
import pino from 'pino'
import { systemClock } from '../../src/clock.ts'
import { readConfig } from '../../src/config.ts'
import { createLogTrouble } from '../../src/http/error-to-problem.ts'
import { Problem } from '../../src/problem.ts'
import { startService } from '../../src/service.ts'
import { signUpAt } from '../support/caller.ts'
import { inMemoryDir } from '../support/temp-dir.ts'

const S = 1_000_000

function openLog() {
  const lines: string[] = []
  return { lines, log: pino({ base: null }, { write: (line) => void lines.push(line) }) }
}

const awayBy = (cause: Error) => new Problem('store_unavailable', 'The store is away.', { cause })

function trial() {
  const { lines, log } = openLog()
  let nowUs = 0
  const logTrouble = createLogTrouble(log, () => nowUs, 'a question had no answer from its store')
  return {
    reasons: () => lines.map((line) => JSON.parse(line).reason),
    pass(us: number) {
      nowUs += us
    },
    fail: (reason: string) => logTrouble(awayBy(new Error(reason)), '/api/timings'),
    refuse: (detail: string) => logTrouble(new Problem('store_unavailable', detail), '/api/overview'),
  }
}

test('logs each cause immediately, and again only after ten seconds', () => {
  const { reasons, pass, fail } = trial()
  for (let i = 0; i < 100; i++) fail('no answer')
  fail('wrong password')
  expect(reasons()).toEqual(['no answer', 'wrong password'])
  pass(10 * S - 1)
  fail('no answer')
  expect(reasons()).toHaveLength(2)
  pass(1)
  fail('no answer')
  expect(reasons()).toEqual(['no answer', 'wrong password', 'no answer'])
})

test('of a refusal without a cause the log has its detail', () => {
  const { reasons, refuse } = trial()
  refuse('It is still being read.')
  refuse('It is far behind.')
  expect(reasons()).toEqual(['It is still being read.', 'It is far behind.'])
})

test('forgets the oldest of many distinct causes', () => {
  const { reasons, fail } = trial()
  fail('first')
  for (let i = 0; i < 100; i++) fail(`cause ${i}`)
  fail('cause 99')
  expect(reasons()).toHaveLength(101)
  fail('first')
  expect(reasons()).toHaveLength(102)
})

test('an unreachable store gives 503, and the log has the reason without the question', async () => {
  const { lines, log } = openLog()
  const [DATA_DIR, PORT] = [join(inMemoryDir(), 'data'), '0']
  const away = { CLICKHOUSE_URL: 'http://127.0.0.1:1', CLICKHOUSE_PASSWORD: 'a-secret-word' }
  const service = await startService(readConfig({ DATA_DIR, PORT, ...away }), systemClock, log)
  const { byKey } = await signUpAt(service.url)
  for (let i = 0; i < 5; i++) {
    const answer = await byKey.get('/api/exceptions?process=private-name')
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
    expect(answer.json).toMatchObject({ code: 'store_unavailable' })
  }
  await service.stop()
  const found = lines.filter((line) => line.includes('a question had no answer'))
  expect(found).toHaveLength(1)
  expect(JSON.parse(found[0]!)).toMatchObject({
    path: '/api/exceptions',
    reason: expect.stringContaining('ClickHouse'),
  })
  expect(lines.join()).not.toMatch(/private-name|a-secret-word/)
})
