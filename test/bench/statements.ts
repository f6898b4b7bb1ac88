// `bun run bench statements`: commits of a spool while two statements of the embedded engine run, with as many threads as the machine has
// cores (what the runtime takes by itself) and with as many as Stint makes sure of (src/main.ts). One commit a time.
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { openSpool } from '../../src/spool/open-spool.ts'
import { openClickHouseClient } from '../../src/store/clickhouse/client.ts'
import { tempDir, useOwnTempDir } from '../support/temp-dir.ts'
import { inWords, surroundings } from './machine.ts'

const SECONDS = 3
/** Each keeps one thread of the pool for longer than the measurement, without using a core. */
const STATEMENT = 'SELECT sum(sleepEachRow(0.1)) FROM numbers(50) SETTINGS max_block_size = 1'

if (process.argv[2] === 'measure') await measure()
else await compare()

async function compare(): Promise<void> {
  const before = surroundings()
  for (const threads of [availableParallelism(), 8]) {
    const child = Bun.spawn([process.execPath, import.meta.path, 'measure'], {
      env: { ...process.env, UV_THREADPOOL_SIZE: String(threads) },
      stdout: 'inherit',
      stderr: 'inherit',
    })
    if ((await child.exited) !== 0) process.exit(1)
  }
  console.log(inWords(before, surroundings()))
}

async function measure(): Promise<void> {
  const removeTempDir = useOwnTempDir()
  const dir = tempDir('bench')
  const engine = { path: join(dir, 'engine') }
  const clients = [await openClickHouseClient(engine, 60_000), await openClickHouseClient(engine, 60_000)]
  const spool = await openSpool({
    dir: join(dir, 'spool'),
    maxBytes: 2 ** 28,
    minFreeBytes: 0,
    log: pino({ level: 'silent' }),
  })
  const statements = clients.map((client) => client.run(STATEMENT))
  const times: number[] = []
  const end = performance.now() + SECONDS * 1000
  while (performance.now() < end) {
    const from = performance.now()
    await spool.append('x'.repeat(140), Date.now() * 1000)
    times.push(performance.now() - from)
  }
  times.sort((a, b) => a - b)
  const at = (part: number) => times[Math.floor(part * (times.length - 1))]!.toFixed(2)
  console.log(
    `${process.env.UV_THREADPOOL_SIZE} threads: ${times.length} commits in ${SECONDS} s; p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`,
  )
  await Promise.all(statements)
  await spool.close()
  for (const client of clients) await client.close()
  removeTempDir()
  process.exit(0)
}
