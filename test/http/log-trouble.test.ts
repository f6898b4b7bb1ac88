import { expect, test } from 'bun:test'
import pino from 'pino'
import { createLogTrouble } from '../../src/http/error-to-problem.ts'
import { createStintProcess } from '../support/process.ts'

const S = 1_000_000

function trial() {
  const lines: string[] = []
  let nowUs = 0
  const log = pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line).reason) })
  const logTrouble = createLogTrouble(log, () => nowUs, 'a question had no answer from its store')
  return {
    lines,
    pass(us: number) {
      nowUs += us
    },
    fail: (reason: string) => logTrouble(new Error(reason), '/api/timings'),
  }
}

test('logs each cause immediately, and again only after ten seconds', () => {
  const { lines, pass, fail } = trial()
  for (let i = 0; i < 100; i++) fail('no answer')
  fail('wrong password')
  expect(lines).toEqual(['no answer', 'wrong password'])
  pass(10 * S - 1)
  fail('no answer')
  expect(lines).toHaveLength(2)
  pass(1)
  fail('no answer')
  expect(lines).toEqual(['no answer', 'wrong password', 'no answer'])
})

test('forgets the oldest of many distinct causes', () => {
  const { lines, fail } = trial()
  fail('first')
  for (let i = 0; i < 100; i++) fail(`cause ${i}`)
  fail('cause 99')
  expect(lines).toHaveLength(101)
  fail('first')
  expect(lines).toHaveLength(102)
})

test('an unreachable store gives 503, and the log has the reason without the question', async () => {
  await using stint = createStintProcess({ CLICKHOUSE_URL: 'http://127.0.0.1:1', CLICKHOUSE_PASSWORD: 'a-secret-word' })
  await stint.start()
  const caller = await stint.signUp('ada@example.com')
  for (let i = 0; i < 5; i++) {
    const answer = await caller.get('/api/exceptions?process=private-name')
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
    expect(await answer.json()).toMatchObject({ code: 'store_unavailable' })
  }
  const lines = stint
    .log()
    .split('\n')
    .filter((line) => line.includes('a question had no answer'))
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0]!)).toMatchObject({
    level: 'warn',
    path: '/api/exceptions',
    reason: expect.stringContaining('ClickHouse'),
  })
  expect(stint.log()).not.toMatch(/private-name|a-secret-word/)
})
