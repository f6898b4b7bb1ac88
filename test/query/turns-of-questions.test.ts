// However many questions are being answered, the event loop has its turn: rows that are read within one turn are few.
import { expect, test } from 'bun:test'
import { encodeJson } from '../../src/http/compressed.ts'
import type { Known } from '../../src/query/prometheus.ts'
import type { Questions } from '../../src/query/questions.ts'
import type {
  ExceptionGroupRow,
  ExceptionRow,
  ExceptionSource,
  PointSource,
  TimingRow,
} from '../../src/store/source.ts'
import { countPerTurn, countTurns } from '../support/count-turns.ts'
import { memoryQuestions, NOW_NS } from '../support/memory-questions.ts'
import { createMemorySource } from '../support/memory-source.ts'

const TEXT = `Error: no route to host\n${Array.from({ length: 60 }, (_, i) => `    at f${i} (/srv/m${i}.js:${i}:1)\n`).join('')}`

/** Stores whose rows note each time that their process is read. */
function sources(note: () => void) {
  const times = <T extends object>(n: number, make: (i: number, own: typeof common) => T): T[] =>
    Array.from({ length: n }, (_, i) => {
      const row = make(i, common)
      return Object.defineProperty(row, 'process', {
        enumerable: true,
        get: () => {
          note()
          return `p${i % 100}`
        },
      })
    })
  const common = { process: '', meta: 'm' }
  const place = (i: number) => ({ ns: NOW_NS - BigInt(i), tie: String(i) })
  const atNs = (i: number) => NOW_NS - BigInt(i) * 1_000_000_000n
  const figures = { count: 3, meanMs: 1.5, p50Ms: 1, p95Ms: 2, p99Ms: 3, maxMs: 4 }
  const others = { failed: 0, running: 0, abandoned: 0, orphan: 0 }
  const summaries = times(10_000, (i, own) => ({ ...own, atNs: atNs(i), ...figures, ...others }))
  const metrics = times(10_000, (i, own) => ({
    ...{ ...own, name: 'n', atNs: atNs(i), count: 3, mean: 1, min: 1, max: 2, sum: 3, last: 4 },
  }))
  const timings = times(
    3_000,
    (i, own): TimingRow => ({
      ...{ ...own, uid: `u${i}`, state: 'completed', startedNs: atNs(i) - 5n, endedNs: atNs(i), place: place(i) },
    }),
  )
  const moments = times(10_000, (i, own) => ({ ...own, uid: `u${i}`, atNs: atNs(i) }))
  const texts = times(1_001, (i, own): ExceptionRow & ExceptionGroupRow => ({
    ...{ ...own, uid: '', atNs: atNs(i), exception: TEXT, example: TEXT, fingerprint: `v5:${i}`, place: place(i) },
    ...{ firstNs: atNs(i), lastNs: atNs(i), count: 1, runs: 1 },
  }))
  const values = times(4_000, (i, own) => ({ ...own, name: `n${i}`, atNs: atNs(i), value: 1 }))
  const memory = createMemorySource([])
  const points: PointSource = {
    ...memory.points,
    summarizeTimings: async () => summaries,
    aggregateMetrics: async () => metrics,
    findLatest: async () => timings,
    findTimings: async (_, { limit }) => timings.slice(0, limit),
    findPointProcesses: async () =>
      times(10_000, (i) => ({ process: '', metas: [`m${i}`], lastNs: atNs(i), kinds: ['mark'] })),
    findNewestMetrics: async () => values,
  }
  const exceptions: ExceptionSource = {
    ...memory.exceptions,
    findExceptions: async () => texts,
    groupExceptions: async () => texts,
    findGroupSpans: async () => texts,
    findMoments: async () => moments,
  }
  const newest = { startUs: 1, okUs: 1, failedUs: undefined, tookUs: 1, seenUs: Number(NOW_NS / 1000n), running: 0 }
  const runs = { completed: 3, failed: 0, abandoned: 0, orphan: 0 }
  const known = async (): Promise<Known> => ({
    figures: times(10_000, (i, own) => ({ ...own, meta: `m${i}`, newest, isCut: true, exceptions: 0, runs })),
    states: times(10_000, (_, own) => ({ ...own, state: 'completed' as const })),
    alerts: [],
  })
  return { points, exceptions, known }
}

const ASKED: readonly (readonly [kind: keyof Questions, search: string, most?: number])[] = [
  ['timings', 'limit=500'],
  ['timings', 'limit=500&state=trouble'],
  ['latest', ''],
  ['summary', 'every=1m&from=-6d'],
  ['metrics', 'every=1m&from=-6d'],
  ['exceptions', 'limit=500', 60], // each with a text that is read
  ['groups', 'limit=500&status=all'],
  ['processes', 'limit=500&by=meta'],
  ['prometheus', ''],
]

test.each(ASKED)('%s?%s gives way, also when twelve ask it', async (kind, search, max = 3_000) => {
  const most = await countPerTurn(async (note) => {
    const questions = memoryQuestions([], { ...sources(note), maxMarks: 1e9 })
    const asked = Array.from({ length: 12 }, (_, i) => questions[kind](`a${i}`, new URLSearchParams(search)))
    await Promise.all(asked.map(async (answer) => encodeJson(await answer)))
  })
  expect(most).toBeLessThan(max)
})

test('texts whose fingerprints and headlines are looked for take more of a turn than those that are copied', async () => {
  const questions = memoryQuestions(
    [],
    sources(() => {}),
  )
  const search = new URLSearchParams('limit=500&status=all')
  expect((await countTurns(() => questions.groups('ada', search))).turns).toBeGreaterThan(60)
})
