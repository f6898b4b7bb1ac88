// `stint copy` between real stores: 40,000 events of every kind, killed several times on the way, and then both sides are asked the same questions.
import { beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInfluxClient } from '../../src/store/influx/client.ts'
import { engineMissing } from '../support/engine.ts'
import { type InfluxBucket, influxd, influxdMissing } from '../support/influxd.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'
import { type Env, runScript, runStint, spawnBun } from './run-stint.ts'

const EVENTS = 40_000
const QUESTIONS = '20'
const KILLS = 3
/** Days on which the target loses events. */
const LOST = { start: '2026-09-22T12:00:00Z', stop: '2026-09-25T12:00:00Z' }

const settingsOf = ({ url, token, org, bucket }: InfluxBucket, prefix = ''): Env => ({
  [`${prefix}INFLUX_URL`]: url,
  [`${prefix}INFLUX_TOKEN`]: token,
  [`${prefix}INFLUX_ORG`]: org,
  [`${prefix}INFLUX_BUCKET`]: bucket,
})

describe.skipIf(engineMissing !== undefined || influxdMissing !== undefined)('a copy', () => {
  const source = tempDir('copy-source')
  let bucket: InfluxBucket
  let expected: string

  beforeAll(async () => {
    bucket = await (await influxd()).freshBucket()
    await runScript('fill-embedded.ts', [String(EVENTS)], { DATA_DIR: source })
    expected = await runScript('ask-questions.ts', [QUESTIONS], { DATA_DIR: source })
  })

  /** Kills the copy after it has written some progress, which is newer than that of the run before. */
  async function copyAndKill(env: Env, dataDir: string): Promise<void> {
    const path = join(dataDir, 'copy.json')
    const before = existsSync(path) ? readFileSync(path, 'utf8') : ''
    const child = spawnBun(['src/cli/main.ts', 'copy', '--from', 'embedded'], env)
    await until(
      'the copy moves',
      () => child.exitCode !== null || (existsSync(path) && readFileSync(path, 'utf8') !== before),
    )
    expect(child.exitCode).toBeNull()
    child.kill('SIGKILL')
    await child.exited
  }

  test('into InfluxDB, killed three times, gives the same answers', async () => {
    const env = { DATA_DIR: source, ...settingsOf(bucket) }
    for (let kill = 0; kill < KILLS; kill++) await copyAndKill(env, source)
    const { exitCode, stdout, stderr } = await runStint(['copy', '--from', 'embedded', '--json'], env)
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: expect.stringContaining('Continuing an interrupted copy'),
    })
    const { comparison } = JSON.parse(stdout)
    expect(comparison.missing).toBe(0)
    expect(comparison.target).toEqual(comparison.source)
    expect(comparison.source.start).toBe(EVENTS / 4)
    expect(existsSync(join(source, 'copy.json'))).toBe(false)
    expectSame(await runScript('ask-questions.ts', [QUESTIONS], env), expected)
  })

  test('back into another embedded engine gives the same answers, also when repeated', async () => {
    const env = { DATA_DIR: tempDir('copy-back'), ...settingsOf(bucket, 'FROM_') }
    for (let repetition = 0; repetition < 2; repetition++) {
      const { exitCode, stderr } = await runStint(['copy', '--from', 'influxdb'], env)
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
      expectSame(await runScript('ask-questions.ts', [QUESTIONS], env), expected)
    }
  })

  test('through a file gives the same answers, including exceptions', async () => {
    const file = join(tempDir('copy-file'), 'history.ndjson.gz')
    const env = { DATA_DIR: tempDir('copy-of-file') }
    expect(await runStint(['copy', '--from', 'embedded', '--to', file], { DATA_DIR: source })).toMatchObject({
      exitCode: 0,
    })
    expect(await runStint(['copy', '--from', file], env)).toMatchObject({ exitCode: 0 })
    const [all, same] = [
      await runScript('ask-questions.ts', [QUESTIONS, 'all'], { DATA_DIR: source }),
      await runScript('ask-questions.ts', [QUESTIONS, 'all'], env),
    ]
    expect(all).toContain('Error: row')
    expectSame(same, all)
    const again = await runStint(['copy', '--from', 'embedded', '--to', file], { DATA_DIR: source })
    expect(again).toMatchObject({ exitCode: 1, stderr: `stint: ${file} exists: delete it or name another file\n` })
  })

  test('reports events that the target lost', async () => {
    const { url, token, org } = bucket
    const client = createInfluxClient({ url, token, org, bucket: bucket.bucket }, 30_000)
    const { start, stop } = LOST
    const predicate = 'account="acc_two" AND process="job 3, é =x"'
    const query = new URLSearchParams({ org, bucket: bucket.bucket })
    await client.request('POST', `/api/v2/delete?${query}`, { start, stop, predicate })
    client.close()
    const env = { DATA_DIR: source, ...settingsOf(bucket) }
    writeFileSync(join(source, 'copy.json'), JSON.stringify(allDone(source, bucket)))
    const { exitCode, stderr } = await runStint(['copy', '--from', 'embedded'], env)
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/Missing in the target: [\d,]+ marks of 2026-09-2\d, /)
    expect(stderr).toMatch(
      /the copy is not complete: \d+ events of the source are missing in the target; run the copy again/,
    )
    expect(await runStint(['copy', '--from', 'embedded'], env)).toMatchObject({ exitCode: 0 })
  })
})

/** Line by line, so that a difference can be read. */
function expectSame(answers: string, expected: string): void {
  const [ours, theirs] = [answers.split('\n'), expected.split('\n')]
  expect(ours.length).toBe(theirs.length)
  const different = ours.findIndex((line, i) => line !== theirs[i])
  expect(ours[different]).toBe(theirs[different])
}

/** The progress of a copy that believes to be complete. */
const allDone = (dataDir: string, { url, org, bucket }: InfluxBucket) => {
  const target = `influxdb ${url} ${org} ${bucket}`
  const route = [`embedded ${join(dataDir, 'clickhouse')}`, `marks → ${target}`, `metrics → ${target}`, '', ''].join(
    '; ',
  )
  return { route, done: { marks: null, metrics: null }, events: EVENTS }
}
