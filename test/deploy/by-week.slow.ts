// The commands that put the tables of 1.1 on a ClickHouse server by week, as the page prints them: Stint runs meanwhile
// and accepts late events before, between and after the two copies, and the new database has every event once.
import { afterAll, describe, expect, test } from 'bun:test'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FAMILIES } from '../../src/event/event.ts'
import { type ClickHouseClient, openClickHouseClient } from '../../src/store/clickhouse/client.ts'
import { TABLES } from '../../src/store/clickhouse/tables.ts'
import { runScript } from '../copy/run-stint.ts'
import { partitionByMonth, partitionsOf } from '../store/clickhouse/by-month.ts'
import { CLUSTER } from '../support/clickhouse-bridge.ts'
import { createClickHouse } from '../support/clickhouse-process.ts'
import { engineMissing } from '../support/engine.ts'
import { type Caller, createStintProcess, type Env } from '../support/process.ts'
import { ROOT, readRepo } from '../support/readme.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const HEADING = '### Tables of 1.1 are partitioned by month'
const [FORMER, NEW] = ['stint', 'stint_weeks']
const DAYS = 6
const RUNS = 50

/** Of the page: the exports and the first copy, and the second one, behind the restart. */
function commandsOf(url: string): { exports: string; first: string; second: string } {
  const [, section] = readRepo('src/deploy/existing.md').split(HEADING)
  const [, block] = /```sh\n(.*?)```/s.exec(section!)!
  const lines = block!.replace('http://127.0.0.1:8123', url).trim().split('\n')
  const restart = lines.findIndex((line) => /^# restart every Stint with CLICKHOUSE_DATABASE=stint_weeks\b/.test(line))
  const of = (part: readonly string[], isExport: boolean) =>
    part.filter((line) => line.startsWith('export ') === isExport).join('\n')
  const [before, after] = [lines.slice(0, restart), lines.slice(restart + 1)]
  expect(restart).toBeGreaterThan(0)
  return { exports: of(before, true), first: of(before, false), second: of(after, false) }
}

/** Runs commands with a `stint` in the PATH, and the settings of the server. */
async function run(commands: string, settings: Env): Promise<string> {
  const bin = tempDir('bin')
  writeFileSync(join(bin, 'stint'), `#!/bin/sh\nexec "${process.execPath}" "${ROOT}/src/cli/main.ts" "$@"\n`)
  chmodSync(join(bin, 'stint'), 0o755)
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH: `${bin}:${PATH}`, HOME, ...settings }
  const child = Bun.spawn(['sh', '-ec', commands], { env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect({ code: await child.exited, stderr }).toMatchObject({ code: 0 })
  return stdout + stderr
}

/** Runs that began and ended on each of the last days. */
async function sendRuns({ post }: Caller, prefix: string): Promise<void> {
  const events = Array.from({ length: RUNS }, (_, i) => {
    const at = Date.now() - (DAYS * 86_400_000 * (i + 1)) / (RUNS + 1)
    const run = { process: `job ${i % 5}`, uid: `${prefix}-${i}` }
    const time = (ms: number) => new Date(ms).toISOString()
    return [
      { kind: 'start', ...run, at: time(at) },
      { kind: 'end', ...run, at: time(at + 1000) },
      { kind: 'exception', ...run, exception: `Error: ${prefix}`, at: time(at + 500) },
    ]
  })
  const answer = await post('/v1/batch', events.flat())
  expect([answer.status, await answer.text()]).toEqual([201, expect.any(String)])
}

const rowsOf = async (client: ClickHouseClient, database: string): Promise<Record<string, number>> => {
  const counts = FAMILIES.map(async (family) => {
    const [row] = await client.select<{ n: string }>(`SELECT toString(count()) AS n FROM ${database}.${family}`)
    return [family, Number(row!.n)]
  })
  return Object.fromEntries(await Promise.all(counts))
}

describe.skipIf(engineMissing !== undefined).each([
  { place: 'a server', shards: undefined, suffix: '_raw' },
  { place: 'a cluster', shards: 1, suffix: '_shard' },
])('tables by month of $place', ({ shards, suffix }) => {
  const server = createClickHouse(FORMER, shards)
  const cluster = shards === undefined ? {} : { CLICKHOUSE_CLUSTER: CLUSTER }
  const settings: Env = { ...server.settings, ...cluster }
  const stint = createStintProcess({ ...settings, MAX_AGE: '7d' })
  afterAll(async () => {
    await stint.close()
    await server.kill()
  })

  test('are copied by the printed commands while Stint runs: nothing is lost or doubled', async () => {
    await server.start()
    await runScript('fill-embedded.ts', ['2000'], { ...settings, DATA_DIR: tempDir('filled') })
    const client = await openClickHouseClient(server.address, 30_000)
    await partitionByMonth(client, FORMER, suffix)
    await stint.start()
    const caller = await stint.signUp('ada@example.com')
    const whenStored = async (runs: number) =>
      until(`${runs} runs are stored`, async () => {
        const answer = await (await caller.get('/api/timings/summary?from=-7d')).json()
        const rows = (answer.rows ?? []) as { count: number }[]
        return rows.reduce((sum, { count }) => sum + count, 0) === runs
      })
    await sendRuns(caller, 'before')
    await whenStored(RUNS)

    const { exports, first, second } = commandsOf(server.address.url)
    const { user, password } = server.address
    const from: Env = { FROM_CLICKHOUSE_USER: user, FROM_CLICKHOUSE_PASSWORD: password }
    const shell: Env = { ...settings, ...from, DATA_DIR: stint.dataDir }
    await run(`${exports}\n${first}`, shell)
    await sendRuns(caller, 'between')
    await whenStored(2 * RUNS)
    await stint.terminate()
    await stint.start({ CLICKHOUSE_DATABASE: NEW })
    await sendRuns(caller, 'after')
    await whenStored(2 * RUNS)
    await run(`${exports}\n${second}`, shell)
    await whenStored(3 * RUNS)

    const [former, found] = [await rowsOf(client, FORMER), await rowsOf(client, NEW)]
    expect(found).toEqual({
      ...former,
      marks: former.marks! + 2 * RUNS,
      exceptions: former.exceptions! + RUNS,
    })
    for (const family of FAMILIES) {
      const columns = TABLES[family].columns.join(', ')
      const [missing] = await client.select<{ n: string }>(
        `SELECT toString(count()) AS n FROM (SELECT ${columns} FROM ${FORMER}.${family}
EXCEPT SELECT ${columns} FROM ${NEW}.${family})`,
      )
      expect([family, missing!.n]).toEqual([family, '0'])
    }
    expect(Object.values(await partitionsOf(client, NEW))).toEqual(FAMILIES.map(() => 'toMonday(at)'))
    expect(Object.values(await partitionsOf(client, FORMER))).toEqual(FAMILIES.map(() => 'toYYYYMM(at)'))
    await client.close()
  })
})
