// `stint copy` with ClickHouse servers on both sides: from one server into a cluster, which is how an installation outgrows it, and interrupted by SIGINT.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Shard, startShard } from '../support/clickhouse-shards.ts'
import { engineMissing } from '../support/engine.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'
import { type Env, runScript, runStint, spawnBun } from './run-stint.ts'

const EVENTS = 20_000
const QUESTIONS = ['30', 'all']

describe.skipIf(engineMissing !== undefined)('a copy from one ClickHouse server into a cluster', () => {
  const dataDir = tempDir('copy-servers')
  let single: Shard
  let cluster: Shard
  let expected: string

  const settings = ({ address }: Shard, prefix = ''): Env => ({
    DATA_DIR: dataDir,
    [`${prefix}CLICKHOUSE_URL`]: address.url,
    [`${prefix}CLICKHOUSE_USER`]: address.user,
    [`${prefix}CLICKHOUSE_PASSWORD`]: address.password,
    [`${prefix}CLICKHOUSE_DATABASE`]: address.database,
  })
  const env = (): Env => ({
    ...settings(single, 'FROM_'),
    ...settings(cluster),
    CLICKHOUSE_CLUSTER: cluster.address.cluster!,
  })

  beforeAll(async () => {
    ;[single, cluster] = await Promise.all([startShard(), startShard()])
    await runScript('fill-embedded.ts', [String(EVENTS)], settings(single))
    expected = await runScript('ask-questions.ts', QUESTIONS, settings(single))
  })
  afterAll(() => Promise.all([single.server.kill(), cluster.server.kill()]))

  test('that SIGINT ends says how to continue, and does', async () => {
    const path = join(dataDir, 'copy.json')
    const child = spawnBun(['src/cli/main.ts', 'copy', '--from', 'clickhouse'], env())
    await until('the copy moves', () => child.exitCode !== null || existsSync(path))
    child.kill('SIGINT')
    const stderr = await new Response(child.stderr).text()
    expect({ exitCode: await child.exited, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringMatching(/stint: interrupted; run the same command again to continue\n$/),
    })
    const { events } = JSON.parse(readFileSync(path, 'utf8'))
    expect(events).toBeGreaterThan(0)

    const again = await runStint(['copy', '--from', 'clickhouse', '--json'], env())
    expect(again).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Continuing an interrupted copy') })
    const { comparison } = JSON.parse(again.stdout)
    expect(comparison.missing).toBe(0)
    expect(comparison.target).toEqual(comparison.source)
    expect(existsSync(path)).toBe(false)
  })

  test('gives the same answers', async () => {
    const answers = await runScript('ask-questions.ts', QUESTIONS, env())
    expect(answers.split('\n')).toEqual(expected.split('\n'))
    expect(answers).toContain('Error: row')
  })
})
