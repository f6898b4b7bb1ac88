// A watches.sqlite that is missing, behind a dead link, or on a full disk is said: nobody must believe that he is notified.
import { expect, test } from 'bun:test'
import { existsSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { readConfig } from '../../src/config.ts'
import { startService } from '../../src/service.ts'
import { waitingStores } from '../support/app.ts'
import { createCaller, PASSWORD, signInAt, signUpAt } from '../support/caller.ts'
import { missing } from '../support/needs.ts'
import { createRunningClock } from '../support/step-clock.ts'
import { inMemoryDir, tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const WATCH = { name: 'w', process: 'p', channels: [], failed: {} }

async function start(dataDir: string) {
  const lines: string[] = []
  const log = pino({ base: null }, { write: (line) => void lines.push(line) })
  const config = readConfig({ PORT: '0', DATA_DIR: dataDir, SIGNUP: 'open' })
  const service = await startService(config, createRunningClock(), log, {
    hashCost: { memoryCost: 64, timeCost: 1 },
    openStores: async () => waitingStores,
  })
  return { url: service.url, lines, [Symbol.asyncDispose]: service.stop }
}

/** A DATA_DIR whose first account has so many watches, and whose watches.sqlite is gone. */
async function loseWatches(count: number): Promise<string> {
  const dataDir = join(inMemoryDir(), 'data')
  {
    await using stint = await start(dataDir)
    const { bySession } = await signUpAt(stint.url)
    for (let i = 0; i <= count; i++) {
      const made = await bySession.post('/api/watches', { ...WATCH, name: `w${i}` })
      if (i === count) await bySession.delete(`/api/watches/${made.json.watch.id}`)
    }
  }
  rmSync(join(dataDir, 'watches.sqlite'))
  return dataDir
}

const warnings = async (url: string, email?: string) =>
  (await (await signInAt(url, email)).get('/api/health')).json.warnings as { code: string; detail: string }[]

const GONE = /^2 watches are gone: watches\.sqlite was missing at the start of \d{4}-\d\d-\d\d \d\d:\d\d UTC\. /

test('a missing watches.sqlite is said in the log and in /api/health, over restarts, until a watch is made', async () => {
  const dataDir = await loseWatches(2)
  {
    await using stint = await start(dataDir)
    expect(await warnings(stint.url)).toEqual([{ code: 'watches_lost', detail: expect.stringMatching(GONE) }])
    expect(stint.lines.filter((line) => line.includes('2 watches are gone'))).toHaveLength(1)
  }
  {
    await using stint = await start(dataDir)
    expect(await warnings(stint.url)).toHaveLength(1)
    expect(stint.lines.filter((line) => line.includes('2 watches are gone'))).toHaveLength(1)
    const owner = await signInAt(stint.url)
    expect((await owner.post('/api/watches', WATCH)).status).toBe(201)
    expect(await warnings(stint.url)).toEqual([])
  }
  await using stint = await start(dataDir)
  expect(await warnings(stint.url)).toEqual([])
})

test('the operator dismisses it, and nobody else', async () => {
  const dataDir = await loseWatches(2)
  await using stint = await start(dataDir)
  const other = (await signUpAt(stint.url, 'bo@example.com')).bySession
  expect((await other.delete('/api/health/lost-watches')).status).toBe(403)
  expect((await createCaller(stint.url).delete('/api/health/lost-watches')).status).toBe(401)
  expect(await warnings(stint.url)).toHaveLength(1)
  const operator = await signInAt(stint.url, 'ada@example.com', PASSWORD)
  expect((await operator.delete('/api/health/lost-watches')).status).toBe(204)
  expect(await warnings(stint.url)).toEqual([])
})

test('a new DATA_DIR and one that never had a watch say nothing', async () => {
  const dataDir = await loseWatches(0)
  await using stint = await start(dataDir)
  expect(await warnings(stint.url)).toEqual([])
})

test('a watches.sqlite that was put back is not lost', async () => {
  const dataDir = await loseWatches(2)
  const back = join(inMemoryDir(), 'watches.sqlite')
  {
    const other = await loseWatches(0)
    await using stint = await start(other)
    const { bySession } = await signUpAt(stint.url, 'bo@example.com')
    await bySession.post('/api/watches', WATCH)
    await Bun.write(back, Bun.file(join(other, 'watches.sqlite')))
  }
  {
    await using stint = await start(dataDir)
    expect(await warnings(stint.url)).toHaveLength(1)
  }
  await Bun.write(join(dataDir, 'watches.sqlite'), Bun.file(back))
  await using stint = await start(dataDir)
  expect(await warnings(stint.url)).toEqual([])
})

test.each(['accounts', 'watches', 'dead'])(
  'a link %s.sqlite that leads nowhere refuses the start and is named',
  async (name) => {
    const dataDir = await loseWatches(1)
    const path = join(dataDir, `${name}.sqlite`)
    rmSync(path, { force: true })
    symlinkSync('/mnt/away/file.sqlite', path)
    const why = `${path} is a link to /mnt/away/file.sqlite, which does not exist: `
    expect(await start(dataDir).then(String, ({ message }) => message)).toStartWith(why)
    expect(existsSync(path)).toBe(false)
  },
)

test.skipIf(missing('tmpfs') !== undefined)(
  'a watches.sqlite on a full disk is a warning until it can be written',
  async () => {
    const dataDir = await loseWatches(0)
    const small = tempDir('small')
    Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=1m', 'none', small])
    try {
      {
        await using _ = await start(dataDir)
      }
      renameSync(join(dataDir, 'watches.sqlite'), join(dataDir, 'moved'))
      await Bun.write(join(small, 'watches.sqlite'), Bun.file(join(dataDir, 'moved')))
      symlinkSync(join(small, 'watches.sqlite'), join(dataDir, 'watches.sqlite'))
      await using stint = await start(dataDir)
      const owner = await signInAt(stint.url)
      const filler = join(small, 'filler')
      Bun.spawnSync(['dd', 'if=/dev/zero', `of=${filler}`, 'bs=1k'], { stderr: 'ignore' })
      await until('a change is refused', async () => (await owner.post('/api/watches', WATCH)).status === 503)
      const detail = expect.stringMatching(/^watches\.sqlite cannot be written: the disk has no room/)
      expect(await warnings(stint.url)).toEqual([{ code: 'watches_unwritable', detail }])
      rmSync(filler)
      expect((await owner.post('/api/watches', WATCH)).status).toBe(201)
      expect(await warnings(stint.url)).toEqual([])
    } finally {
      Bun.spawnSync(['umount', small])
    }
  },
)
