// Long answers are taken over in turns of the event loop.
import { expect, test } from 'bun:test'
import { createInfluxClient, type InfluxClient } from '../../../src/store/influx/client.ts'
import { findMarks } from '../../../src/store/influx/marks.ts'
import { findProcesses } from '../../../src/store/influx/processes.ts'
import { countTurns } from '../../support/count-turns.ts'

const COUNT = 20_000
const FROM = Date.UTC(2026, 10, 26)
const timeOf = (i: number) => new Date(FROM + i * 1000).toISOString().replace('.000Z', '.000001Z')
const range = { account: 'ada', fromNs: BigInt(FROM) * 1_000_000n, toNs: BigInt(FROM + COUNT * 1000) * 1_000_000n }

const clientWith = (answers: Partial<InfluxClient>): InfluxClient => ({
  ...createInfluxClient({ url: 'http://127.0.0.1:1', org: 'org', bucket: 'bucket', token: 'token' }, 1_000),
  ...answers,
})

test('marks', async () => {
  const lines = Array.from({ length: COUNT }, (_, i) => `,r0,0,${timeOf(i)},u${i},start,job\r\n`)
  const answer = Buffer.from(`,result,table,_time,_value,mark,process\r\n${lines.join('')}`)
  const client = clientWith({ readCsv: async (_, take) => void (await take(answer)) })
  const { result, turns } = await countTurns(() => findMarks(client, { ...range, perSeries: 15_000, maxRows: 100_000 }))
  const expected = Array.from({ length: 15_000 }, (_, i) => `u${COUNT - 1 - i}`)
  expect(result.map(({ uid }) => uid)).toEqual(expected)
  expect(turns).toBeGreaterThan(100)
})

test('processes', async () => {
  const client = clientWith({
    readRows: async (_, visit) => {
      for (let i = 0; i < COUNT; i++) {
        const cells: Record<string, string> = { _time: timeOf(i), _measurement: 'mark', process: `job ${i}`, meta: '' }
        visit((label) => cells[label] ?? '')
      }
    },
  })
  const { result, turns } = await countTurns(() => findProcesses(client, { ...range, maxRows: 10_000 }))
  expect(result.map(({ process }) => process)).toEqual(Array.from({ length: 10_000 }, (_, i) => `job ${COUNT - 1 - i}`))
  expect(turns).toBeGreaterThan(100)
})
