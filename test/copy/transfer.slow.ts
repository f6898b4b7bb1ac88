// `stint export` and `stint import`: one account's events from one Stint to another, between real engines.
import { beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { fromLine } from '../../src/copy/event-file.ts'
import { ADA, openFresh } from '../account/accounts-cast.ts'
import { engineMissing } from '../support/engine.ts'
import { inMemoryDir } from '../support/temp-dir.ts'
import { runScript, runStint } from './run-stint.ts'
import { someHistory } from './some-history.ts'

const EVENTS = 2_000
const THEIRS = [...someHistory(EVENTS)].filter(({ account }) => account === 'acc_two')
const rowsOf = (events: typeof THEIRS) => events.reduce((n, e) => n + (e.kind === 'metrics' ? e.items.length : 1), 0)

describe.skipIf(engineMissing !== undefined)('one account', () => {
  const [from, to] = [inMemoryDir(), inMemoryDir()]
  const file = join(inMemoryDir(), 'two.ndjson.gz')
  beforeAll(async () => {
    await runScript('fill-embedded.ts', [String(EVENTS)], { DATA_DIR: from })
  })

  test('is exported without other accounts', async () => {
    expect(await runStint(['export', '--account', 'acc_two', file], { DATA_DIR: from })).toMatchObject({ exitCode: 0 })
    const lines = gunzipSync(readFileSync(file)).toString().trimEnd().split('\n')
    expect(lines.join()).not.toContain('acc_')
    const found = lines.map((line) => fromLine(line, 'acc_two'))
    expect(rowsOf(found)).toBe(rowsOf(THEIRS))
    expect(new Set(found.map(({ stamp }) => `${stamp.us} ${stamp.sub}`))).toEqual(
      new Set(THEIRS.map(({ stamp }) => `${stamp.us} ${stamp.sub}`)),
    )
  })

  test('can be imported repeatedly into another account', async () => {
    const accounts = openFresh({ path: join(to, 'accounts.sqlite') })
    const { account } = await accounts.create(ADA)
    accounts.close()
    for (let time = 0; time < 2; time++) {
      const { exitCode, stdout, stderr } = await runStint(['import', '--account', ADA.email, file, '--json'], {
        DATA_DIR: to,
      })
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
      const { source, target, missing } = JSON.parse(stdout).comparison
      expect({ target, missing }).toEqual({ target: source, missing: 0 })
    }
    const out = join(to, 'back.ndjson')
    expect(await runStint(['export', '--account', account.id, out], { DATA_DIR: to })).toMatchObject({ exitCode: 0 })
    const sorted = (text: string) => text.trimEnd().split('\n').sort()
    expect(sorted(readFileSync(out, 'utf8'))).toEqual(sorted(gunzipSync(readFileSync(file)).toString()))
  })

  test('reports an unknown account, and refuses Parquet', async () => {
    const unknown = await runStint(['import', '--account', 'bob@example.com', file], { DATA_DIR: to })
    expect(unknown).toMatchObject({
      exitCode: 1,
      stderr: `stint: no account bob@example.com in ${to}/accounts.sqlite\n`,
    })
    const parquet = await runStint(['export', '--account', ADA.email, '/tmp/x.parquet'], { DATA_DIR: to })
    expect(parquet.stderr).toContain('Parquet is not supported; use a name that ends in .ndjson or .ndjson.gz')
  })
})
