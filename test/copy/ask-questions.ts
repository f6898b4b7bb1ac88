// Prints the answers to some random questions, the same ones every time, from the stores that the environment names: one process per store, since a process can hold one embedded engine only.
import { join } from 'node:path'
import pino from 'pino'
import { readConfig } from '../../src/config.ts'
import { openStores } from '../../src/store/open-stores.ts'
import { memoryQuestions } from '../support/memory-questions.ts'
import { ACCOUNTS, FROM_US, TO_US } from './some-history.ts'

const config = readConfig()
const log = pino({ level: 'silent' })
const stores = await openStores({ ...config, embeddedPath: join(config.dataDir, 'clickhouse'), log })
/** A copy may be of the points alone. */
const hasAll = process.argv[3] === 'all'
const questions = memoryQuestions([], {
  ...{ points: stores.points, ...(hasAll && { exceptions: stores.exceptions }) },
  ...{ nowNs: () => BigInt(TO_US) * 1000n, maxMarks: 100_000_000 },
})

let seed = 7
const random = (below: number) => {
  seed = (seed * 48_271) % 2_147_483_647
  return seed % below
}
const isoOf = (us: number) => new Date(us / 1000).toISOString()
const kinds = [
  'timings',
  'summary',
  'metrics',
  'aggregate',
  'processes',
  ...(hasAll ? (['exceptions', 'outputs', 'groups'] as const) : []),
] as const

for (let i = 0; i < Number(process.argv[2]); i++) {
  const kind = kinds[i % kinds.length]!
  const hours =
    kind === 'timings' || kind === 'metrics' || kind === 'exceptions' || kind === 'outputs'
      ? 1 + random(3)
      : 1 + random(300)
  const fromUs = FROM_US + random(460) * 3_600_000_000
  const search = new URLSearchParams({
    from: isoOf(fromUs),
    to: isoOf(fromUs + hours * 3_600_000_000 + random(1_000_000)),
  })
  if (kind !== 'processes' && random(3) > 0) search.set('process', `job ${random(7)}, é =x`)
  if (kind === 'summary' && random(2) > 0) search.set('by', 'meta')
  if (kind === 'aggregate') search.set('every', '1d')
  if (kind !== 'summary' && kind !== 'aggregate') search.set('limit', '1000')
  const answer = (await questions[kind === 'aggregate' ? 'metrics' : kind](
    ACCOUNTS[random(5) === 0 ? 1 : 0]!,
    search,
  )) as Record<string, unknown>
  const [name = '', rows] = Object.entries(answer)[0]!
  console.log(`${kind} ${search}: ${name} ${(rows as object[]).map(show).sort().join(' ')}`)
}
await stores.close()

/** Sums are added in each store's own order: their last digits differ. */
function show(row: object): string {
  return JSON.stringify(row, (_, value) => (typeof value === 'number' ? Number(value.toPrecision(9)) : value))
}
