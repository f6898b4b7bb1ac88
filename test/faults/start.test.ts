// What the real process says when it cannot or must not start: an exit code that is not 0, and one message that tells the operator what to do.
import { expect, test } from 'bun:test'
import { cpSync, existsSync, openSync, readdirSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createStintProcess, STORES_AWAY } from '../support/process.ts'
import { createClockedProcess } from '../support/quick-clock.ts'
import { tempDir } from '../support/temp-dir.ts'

const dir = tempDir('refused')

/** The fatal line of a start that must fail. */
async function refusalOf(dataDir: string): Promise<string> {
  await using stint = createStintProcess(STORES_AWAY, { dataDir })
  await stint.launch()
  expect(await stint.ended()).toBe(1)
  const fatal = stint
    .log()
    .split('\n')
    .filter((line) => line.includes('"level":"fatal"'))
  expect(fatal).toHaveLength(1)
  return (JSON.parse(fatal[0]!) as { msg: string }).msg
}

test('refuses data of a newer version and damaged accounts without changing them', async () => {
  const dataDir = join(dir, 'kept')
  const stint = createStintProcess(STORES_AWAY, { dataDir })
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
})

test('refuses a clock that was never set, and makes no data', async () => {
  const dataDir = join(dir, 'never')
  await using stint = createClockedProcess({ stepUs: -Date.now() * 1000, passUs: 0 }, STORES_AWAY, { dataDir })
  await stint.launch()
  expect(await stint.ended()).toBe(1)
  expect(stint.log()).toContain('the clock of this machine is wrong: it shows 1970-01-01T')
  expect(existsSync(dataDir)).toBe(false)
})

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
