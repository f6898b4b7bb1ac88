// What the real process says when it cannot or must not start: an exit code that is not 0, and one message that tells the operator what to do.
import { expect, test } from 'bun:test'
import { cpSync, openSync, readdirSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createStintProcess } from '../support/process.ts'
import { tempDir } from '../support/temp-dir.ts'

const TIMEOUT_MS = 600_000
/** The stores are away: a start does not need them, and none of these tests is about them. */
const SETTINGS = {
  INFLUX_URL: 'http://127.0.0.1:1',
  INFLUX_TOKEN: 'token',
  INFLUX_ORG: 'org',
  INFLUX_BUCKET: 'bucket',
  CLICKHOUSE_URL: 'http://127.0.0.1:1',
}

const dir = tempDir('refused')

/** The fatal line of a start that must fail. */
async function refusalOf(dataDir: string): Promise<string> {
  await using stint = createStintProcess(SETTINGS, { dataDir })
  await stint.launch()
  expect(await stint.ended()).toBe(1)
  const fatal = stint
    .log()
    .split('\n')
    .filter((line) => line.includes('"level":"fatal"'))
  expect(fatal).toHaveLength(1)
  return (JSON.parse(fatal[0]!) as { msg: string }).msg
}

test(
  'refuses a second process on a DATA_DIR with the pid of the first until the first is killed',
  async () => {
    const dataDir = join(dir, 'shared')
    const first = createStintProcess(SETTINGS, { dataDir })
    const third = createStintProcess(SETTINGS, { dataDir })
    try {
      await first.start()
      const caller = await first.signUp('ada@example.com')
      expect(await refusalOf(dataDir)).toMatch(new RegExp(`in use by another Stint \\(pid ${first.pid()}\\).*stop`))
      expect((await caller.post('/v1/start', { process: 'p' })).status).toBe(201)
      await first.kill()
      await third.start()
    } finally {
      await first.close()
      await third.close()
    }
  },
  TIMEOUT_MS,
)

test.each([
  ['a file', () => fileAt('file')],
  ['below a file', () => join(fileAt('file-2'), 'data')],
  ['a directory in which nothing can be made, for root too', () => '/proc/self'],
])(
  'refuses a DATA_DIR that is %s by name',
  async (_, make) => {
    const dataDir = make()
    const message = await refusalOf(dataDir)
    expect(message).toContain(`DATA_DIR ${dataDir}`)
    expect(message).toContain('cannot be written')
  },
  TIMEOUT_MS,
)

function fileAt(name: string): string {
  const path = join(dir, name)
  writeFileSync(path, 'a file')
  return path
}

test(
  'refuses data of a newer version and damaged accounts without changing them',
  async () => {
    const dataDir = join(dir, 'kept')
    const stint = createStintProcess(SETTINGS, { dataDir })
    await stint.start()
    const caller = await stint.signUp('ada@example.com')
    expect((await caller.post('/v1/start', { process: 'p' })).status).toBe(201)
    expect(await stint.terminate()).toBe(0)
    await stint.close()

    const newer = copyOf(dataDir, 'newer')
    writeFileSync(join(newer, 'version'), '99\n')
    const before = sizesOf(newer)
    expect(await refusalOf(newer)).toMatch(/newer Stint \(data version 99/)
    expect(sizesOf(newer)).toEqual(before)

    for (const [name, at] of [
      ['header', 0],
      ['page', 4096],
    ] as const) {
      const damaged = copyOf(dataDir, name)
      const accounts = join(damaged, 'accounts.sqlite')
      writeSync(openSync(accounts, 'r+'), Buffer.alloc(3000, 0xa5), 0, 3000, at)
      const size = statSync(accounts).size
      const message = await refusalOf(damaged)
      expect(message).toContain(accounts)
      expect(message).toMatch(/restore|backup|copy/i)
      expect(statSync(accounts).size).toBe(size) // never a silent empty start
    }
  },
  TIMEOUT_MS,
)

function copyOf(from: string, name: string): string {
  const to = join(dir, name)
  cpSync(from, to, { recursive: true })
  return to
}

const sizesOf = (root: string) =>
  (readdirSync(root, { recursive: true }) as string[])
    .filter((name) => !name.startsWith('lock'))
    .sort()
    .map((name) => [name, statSync(join(root, name)).size])
