// Hundreds of random questions with every parameter: both stores give what the reference in memory gives.
import { describe, expect, test } from 'bun:test'
import { createLog } from '../../src/log.ts'
import { openClickHouse } from '../../src/store/clickhouse/open.ts'
import { createInfluxSink } from '../../src/store/influx/sink.ts'
import { createInfluxSource } from '../../src/store/influx/source.ts'
import { engineMissing, freshEmbedded } from '../support/engine.ts'
import { influxd, influxdMissing } from '../support/influxd.ts'
import { memoryQuestions } from '../support/memory-questions.ts'
import { anyEvents, anyQuestion, anyStates, createRandom, type Kind } from './any-question.ts'

const log = createLog({ level: 'silent', pretty: false })
const [ACCOUNTS, QUESTIONS, EVENTS, MAX_RUN_S] = [4, 60, 300, 600]
const NOW_US = (Math.floor(Date.now() / 1000) - 60) * 1e6
const SEED = Number(process.env.STINT_TEST_SEED ?? Date.now() % 1e6)

type Questions = ReturnType<typeof memoryQuestions>

/** Floats in nine digits, and none in the middle of two: the stores add in another order. */
const plain = (value: unknown): unknown => {
  if (typeof value === 'number') return Number((value * 1.0123456789).toPrecision(9))
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, one]) => [name, plain(one)])
      .toSorted(),
  )
}

/** The rows of all pages. */
async function askAll(questions: Questions, account: string, kind: Kind, search: URLSearchParams): Promise<object[]> {
  const rows: object[] = []
  const asked = new URLSearchParams(search)
  for (;;) {
    const answer = (await questions[kind](account, asked)) as unknown as Record<string, unknown>
    rows.push(...(Object.values(answer).find(Array.isArray) as object[]))
    if (typeof answer.next !== 'string') return rows
    asked.set('cursor', answer.next)
  }
}

describe.skipIf(engineMissing !== undefined || influxdMissing !== undefined)('random questions', () => {
  test.each(['influxdb', 'clickhouse'])('over points in %s have the answers of the reference', async (where) => {
    const isInflux = where === 'influxdb'
    const holds = isInflux ? (['exceptions'] as const) : (['points', 'exceptions'] as const)
    const clickhouse = await openClickHouse({ address: freshEmbedded(), holds: [...holds], retentionDays: 0, log })
    const bucket = await (await influxd()).freshBucket()
    const sinks = [
      clickhouse.createSink(),
      ...(isInflux ? [createInfluxSink({ ...bucket, retentionDays: 0, log })] : []),
    ]
    for (const sink of sinks) expect((await sink.prepare()).kind).toBe('stored')
    const points = isInflux ? createInfluxSource({ ...bucket, sliceMarks: 50, openLagS: 600 }) : clickhouse.source
    let [asked, rowsSeen] = [0, 0]
    for (let n = 0; n < ACCOUNTS; n++) {
      const random = createRandom(SEED + n)
      const account = `acc_${n}`
      const events = anyEvents(random, account, NOW_US, EVENTS)
      const states = anyStates(random, NOW_US)
      for (const [i, sink] of sinks.entries())
        for (const part of [events, events.slice(0, 50)]) {
          const own = part.filter(({ kind }) => !isInflux || (kind === 'exception') === (i === 0))
          expect((await sink.write(own)).kind).toBe('stored')
        }
      const common = {
        ...{ groupStates: { list: async () => states }, nowNs: () => BigInt(NOW_US) * 1000n },
        ...{ maxRunNs: BigInt(MAX_RUN_S) * 1_000_000_000n, maxMarks: 1e6 },
      }
      const questions = memoryQuestions([], { points, exceptions: clickhouse.source, ...common })
      const reference = memoryQuestions(events, common)
      for (let q = 0; q < QUESTIONS; q++) {
        const { kind, search } = anyQuestion(random, NOW_US)
        const rows = await askAll(questions, account, kind, search)
        const expected = await askAll(reference, account, kind, search)
        const sort = (all: readonly object[]) => all.map((row) => JSON.stringify(plain(row))).toSorted()
        const question = `seed ${SEED + n}: ${kind}?${search}`
        expect([question, ...sort(rows)]).toEqual([question, ...sort(expected)])
        expect([question, ordered(rows, search)]).toEqual([question, true])
        asked++
        rowsSeen += rows.length
      }
    }
    expect(asked).toBe(ACCOUNTS * QUESTIONS)
    expect(rowsSeen).toBeGreaterThan(asked)
    await Promise.all([...sinks.map((sink) => sink.close()), isInflux ? points.close() : undefined])
    await clickhouse.close()
  })
})

/** Lists come newest first, with `sort=duration` the longest; series the oldest bucket first. */
function ordered(rows: readonly object[], search: URLSearchParams): boolean {
  const keys = rows.map((row) => {
    const { duration_ms, started_at, ended_at, at } = row as Record<string, string>
    return search.has('sort') ? String(duration_ms).padStart(20, '0') : (started_at ?? ended_at ?? at ?? '')
  })
  if (search.has('sort')) return rows.every((_, i) => i === 0 || Number(keys[i]) <= Number(keys[i - 1]))
  return keys.every((key, i) => i === 0 || (search.has('every') ? key >= keys[i - 1]! : key <= keys[i - 1]!))
}
