// Stores that are no longer configured: what the start says about them, and that a deleted account is erased there.
import { beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { noteUsedStores } from '../../src/state/used-stores.ts'
import { NO_COUNTS } from '../../src/store/scan.ts'
import { runBun, runScript } from '../copy/run-stint.ts'
import { engineMissing } from '../support/engine.ts'
import { inMemoryDir } from '../support/temp-dir.ts'

const SERVER = { CLICKHOUSE_URL: 'http://127.0.0.1:9' }
const INFLUX = { INFLUX_URL: 'http://127.0.0.1:9', INFLUX_TOKEN: 'secret', INFLUX_ORG: 'o', INFLUX_BUCKET: 'b' }

describe.skipIf(engineMissing !== undefined)('the former embedded engine', () => {
  const dataDir = inMemoryDir()
  beforeAll(() => runScript('fill-embedded.ts', ['400'], { DATA_DIR: dataDir }))

  async function erase(account: string, env: Readonly<Record<string, string>>) {
    const { stdout, stderr } = await runBun(['test/ship/erase-former-child.ts', account], { DATA_DIR: dataDir, ...env })
    if (stdout === '') throw new Error(stderr)
    return JSON.parse(stdout)
  }

  test('is reported while its points are not read, and erases a deleted account', async () => {
    const { results, logged, left, others } = await erase('acc_two', SERVER)
    expect(results).toEqual([{ store: 'the former embedded ClickHouse', result: { kind: 'stored', expired: 0 } }])
    expect(logged).toEqual([
      'the embedded ClickHouse holds points and exceptions that nothing reads any more: stop Stint and copy them with `bun run stint copy --from embedded`',
    ])
    expect(left).toEqual(NO_COUNTS)
    expect(others.start).toBeGreaterThan(50)
  })

  test('is not reported after a copy, until it is used again', async () => {
    const unread = async (env = {}) => (await erase('acc_two', env)).logged.join().includes('nothing reads')
    noteUsedStores(dataDir, [{ kind: 'embedded', place: '', holds: [], copied: ['points', 'exceptions'] }])
    expect(await unread(SERVER)).toBe(false)
    expect(await unread(INFLUX)).toBe(false) // its exceptions are read here
    expect((await erase('acc_two', SERVER)).logged[0]).toMatch('holds exceptions that nothing reads any more')
  })

  test('reports a former server without its credentials', async () => {
    await erase('acc_two', INFLUX)
    const { results, logged } = await erase('acc_two', SERVER)
    expect(results.map(({ store }: { store: string }) => store)).toEqual([
      'the former embedded ClickHouse',
      'influxdb http://127.0.0.1:9, bucket b of o',
    ])
    expect(logged).toContain('a deleted account may have data in a store that is no longer configured: delete it there')
    expect(readFileSync(join(dataDir, 'stores'), 'utf8')).not.toContain('secret')
  })

  test('is no longer reported when its directory is gone', async () => {
    rmSync(join(dataDir, 'clickhouse'), { recursive: true })
    const { results, logged } = await erase('acc_two', SERVER)
    expect(results[0]).toMatchObject({ result: { kind: 'stored' } })
    expect(logged.join()).not.toContain('nothing reads')
  })
})
