// What the real process says when it cannot or must not start: an exit code that is not 0, and one message that tells the operator what to do.
import { expect, test } from 'bun:test'
import { existsSync, openSync, readFileSync, symlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { startApp } from '../support/app.ts'
import { buryIn } from '../support/bury.ts'
import { keyHeader } from '../support/caller.ts'
import { mountSmallDisk } from '../support/fault-small-disk.ts'
import { missing } from '../support/needs.ts'
import { createStintProcess, STORES_AWAY } from '../support/process.ts'
import { createClockedProcess } from '../support/quick-clock.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const dir = tempDir('refused')

test('refuses damaged accounts by one fatal line, without changing them', async () => {
  const dataDir = join(dir, 'kept')
  await (await startApp({ env: { DATA_DIR: dataDir } })).stop()
  await using stint = createStintProcess(STORES_AWAY, { dataDir })

  const accounts = join(dataDir, 'accounts.sqlite')
  writeSync(openSync(accounts, 'r+'), Buffer.alloc(3000, 0xa5), 0, 3000, 4096)
  const before = readFileSync(accounts)
  await stint.launch()
  expect(await stint.ended()).toBe(1)
  const fatal = stint
    .log()
    .split('\n')
    .filter((line) => line.includes('"level":"fatal"'))
  expect(fatal).toHaveLength(1)
  const { msg } = JSON.parse(fatal[0]!) as { msg: string }
  expect(msg).toContain(accounts)
  expect(msg).toMatch(/restore|backup|copy/i)
  expect(readFileSync(accounts)).toEqual(before) // never a silent empty start
})

test.skipIf(missing('tmpfs') !== undefined || missing('chdb') !== undefined)(
  'starts and delivers without a file of dead letters, and with a read-only one',
  async () => {
    const dataDir = join(dir, 'no letters')
    const disk = mountSmallDisk(2)
    try {
      await using stint = createStintProcess({}, { dataDir })
      await stint.start()
      const ada = await stint.signUp('ada@example.com')
      const isDelivered = async () => {
        expect((await ada.post('/v1/start', { process: 'p' })).status).toBe(201)
        await until('the event is delivered', async () => {
          const { spools } = (await (await ada.get('/api/health')).json()) as {
            spools: { points: { records: number } }
          }
          return spools.points.records === 0
        })
      }
      await isDelivered()
      expect(await stint.terminate()).toBe(0)
      const path = join(dataDir, 'dead.sqlite')
      expect(existsSync(path)).toBe(false)

      const letter = { destination: 'points', reason: 'r' } as const
      buryIn(disk.dir, [
        { ...letter, account: 'of another', record: 'r' },
        { ...letter, account: ada.account, record: 's' },
      ])
      disk.setReadOnly(true)
      symlinkSync(join(disk.dir, 'dead.sqlite'), path)
      await stint.start()
      await isDelivered()
      expect(stint.log()).toContain('dead letters: the file is read-only')
      const drop = async (id: number) => {
        const answer = await fetch(`${stint.url}/api/dead/${id}`, { method: 'DELETE', headers: keyHeader(ada.secret) })
        return [answer.status, ((await answer.json()) as { code: string }).code]
      }
      expect([await drop(1), await drop(2)]).toEqual([
        [404, 'not_found'],
        [500, 'disk_failed'],
      ])
      expect(stint.log()).not.toContain('a request failed')
    } finally {
      disk.unmount()
    }
  },
  60_000,
)

test('refuses a clock that was never set, and makes no data', async () => {
  const dataDir = join(dir, 'never')
  await using stint = createClockedProcess({ stepUs: -Date.now() * 1000, passUs: 0 }, STORES_AWAY, { dataDir })
  await stint.launch()
  expect(await stint.ended()).toBe(1)
  expect(stint.log()).toContain('the clock of this machine is wrong: it shows 1970-01-01T')
  expect(existsSync(dataDir)).toBe(false)
})
