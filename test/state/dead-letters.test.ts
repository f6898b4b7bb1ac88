import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { existsSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { type DeadLetters, DeadLettersFull, openDeadLetters } from '../../src/state/dead-letters.ts'
import { createLogLines } from '../spool/spool-trial.ts'
import { mountSmallDisk } from '../support/fault-small-disk.ts'
import { missing } from '../support/needs.ts'
import { createStepClock } from '../support/step-clock.ts'
import { tempDir } from '../support/temp-dir.ts'

const dir = tempDir('dead')

let files = 0
const freshPath = () => join(dir, `${files++}.sqlite`)
const open = (path = freshPath(), maxBytes = 2 ** 30, node = 0): DeadLetters =>
  openDeadLetters({ path, maxBytes, node, clock: createStepClock(1_790_000_000_000_000), log: createLogLines().log })

const letter = (record: string, account = 'alice', destination = 'points') => ({
  destination,
  account,
  reason: 'field type conflict',
  record,
})

test('an id of one node names no letter of another', () => {
  const nodes = [0, 2, 21].map((node) => open(freshPath(), 2 ** 30, node))
  for (const dead of nodes) dead.bury([letter('["s",1]')])
  const ids = nodes.map((dead) => dead.list('alice', { limit: 1 })[0]!.id)
  expect(ids).toEqual(['1', '2-1', '21-1'])
  for (const [i, dead] of nodes.entries()) {
    for (const id of ids.filter((it) => it !== ids[i])) {
      expect([dead.get('alice', id), dead.remove('alice', id)]).toEqual([undefined, false])
      expect(() => dead.list('alice', { limit: 1, before: id })).toThrow('This page belongs to another node.')
    }
    expect(dead.get('alice', ids[i]!)?.id).toBe(ids[i]!)
    expect(dead.list('alice', { limit: 1, before: ids[i]! })).toEqual([])
    expect(dead.remove('alice', ids[i]!)).toBe(true)
    dead.close()
  }
})

test('a buried letter is listed, read and counted, also after a restart', () => {
  const path = freshPath()
  const dead = open(path)
  dead.bury([letter('["s",1]'), letter('["x","ü\\u0000"]', 'alice', 'exceptions')])
  const check = (letters: DeadLetters) => {
    const [newest, oldest] = letters.list('alice', { limit: 10 })
    expect(oldest).toEqual({ ...letter('["s",1]'), id: oldest!.id, buriedAtUs: 1_790_000_000_000_000 })
    expect(newest).toMatchObject({ destination: 'exceptions', record: '["x","ü\\u0000"]' })
    expect(letters.get('alice', oldest!.id)).toEqual(oldest!)
    const { bytes, ...counts } = letters.stats()
    expect(counts).toEqual({ total: 2, byDestination: { points: 1, exceptions: 1 } })
    expect(bytes).toBeGreaterThan(50)
    expect(bytes).toBeLessThan(1000)
  }
  check(dead)
  dead.close()
  const again = open(path)
  check(again)
  again.close()
})

test('burying a record twice for one destination gives one letter, whatever the reason', () => {
  const dead = open()
  dead.bury([letter('r'), letter('r')])
  dead.bury([{ ...letter('r'), reason: 'another one' }])
  expect(dead.stats().total).toBe(1)
  expect(dead.list('alice', { limit: 10 })[0]!.reason).toBe('field type conflict')
  dead.bury([letter('r', 'alice', 'exceptions')])
  expect(dead.stats().total).toBe(2)
})

test('pages go from newest to oldest without gaps or repetitions, also while new ones arrive', () => {
  const dead = open()
  dead.bury(Array.from({ length: 25 }, (_, i) => letter(`r${i}`, i % 2 === 0 ? 'alice' : 'bob')))
  const seen: string[] = []
  let before: string | undefined
  for (;;) {
    const page = dead.list('alice', { limit: 5, ...(before !== undefined && { before }) })
    if (page.length === 0) break
    seen.push(...page.map(({ record }) => record))
    before = page.at(-1)!.id
    dead.bury([letter(`late ${seen.length}`)])
  }
  expect(seen).toEqual(Array.from({ length: 13 }, (_, i) => `r${24 - 2 * i}`))
})

test('another account cannot list, read or remove letters, and an invalid id is not found', () => {
  const dead = open()
  dead.bury([letter('r')])
  const { id } = dead.list('alice', { limit: 1 })[0]!
  expect(dead.list('bob', { limit: 10 })).toEqual([])
  expect(dead.get('bob', id)).toBeUndefined()
  expect(dead.remove('bob', id)).toBe(false)
  for (const odd of ['', '0', '-1', '1e3', ' 1', `0${id}`, `${id}.0`, "1' OR 1=1", '99999999999999999999']) {
    expect(dead.get('alice', odd)).toBeUndefined()
    expect(dead.remove('alice', odd)).toBe(false)
    expect(dead.list('alice', { limit: 10, before: odd })).toEqual([])
  }
  expect(dead.stats().total).toBe(1)
})

test('the operator lists, reads and removes the letters of all accounts', () => {
  const dead = open()
  dead.bury([letter('a'), letter('b', 'bob')])
  const [newest, oldest] = dead.list(undefined, { limit: 10 })
  expect([newest, oldest].map((one) => one?.account)).toEqual(['bob', 'alice'])
  expect(dead.list(undefined, { limit: 10, before: newest!.id })).toEqual([oldest!])
  expect(dead.get(undefined, oldest!.id)).toEqual(oldest!)
  expect(dead.remove(undefined, newest!.id)).toBe(true)
  expect(dead.list(undefined, { limit: 10 })).toEqual([oldest!])
  dead.close()
})

test('a removed letter is gone and its id never comes back; removing an account leaves the others', () => {
  const dead = open()
  dead.bury([letter('a'), letter('b'), letter('c', 'bob'), letter('d', 'alice', 'exceptions')])
  const [newest] = dead.list('alice', { limit: 1 })
  expect(dead.remove('alice', newest!.id)).toBe(true)
  expect(dead.remove('alice', newest!.id)).toBe(false)
  expect(dead.stats()).toMatchObject({ total: 3, byDestination: { points: 3, exceptions: 0 } })
  dead.bury([letter('e')])
  expect(dead.list('alice', { limit: 1 })[0]!.id).not.toBe(newest!.id)
  dead.removeAccount('alice')
  expect(dead.stats()).toMatchObject({ total: 1, byDestination: { points: 1 } })
  expect(dead.list('bob', { limit: 10 })).toHaveLength(1)
  dead.removeAccount('bob')
  expect(dead.stats()).toEqual({ total: 0, bytes: 0, byDestination: {} })
})

test('at the limit a burial is rejected as a whole, known records may be buried again, and removal makes room', () => {
  const dead = open(freshPath(), 2000)
  dead.bury([letter('x'.repeat(700))])
  const { bytes } = dead.stats()
  expect(() => dead.bury([letter('y'.repeat(300)), letter('z'.repeat(900))])).toThrow(DeadLettersFull)
  expect(dead.stats()).toEqual({ total: 1, bytes, byDestination: { points: 1 } })
  expect(dead.list('alice', { limit: 10 })).toHaveLength(1)
  dead.bury([letter('x'.repeat(700))])
  dead.bury([letter('y'.repeat(300))])
  expect(() => dead.bury([letter('z'.repeat(900))])).toThrow(DeadLettersFull)
  dead.remove('alice', dead.list('alice', { limit: 10 }).at(-1)!.id)
  dead.bury([letter('z'.repeat(900))])
  expect(dead.stats().total).toBe(2)
  expect(dead.stats().bytes).toBeLessThanOrEqual(2000)
})

test('the file shrinks after removals', () => {
  const path = freshPath()
  const dead = open(path)
  dead.bury(Array.from({ length: 500 }, (_, i) => letter(`${i} ${'x'.repeat(2000)}`)))
  dead.removeAccount('alice')
  dead.close()
  expect(statSync(path).size).toBeLessThan(200_000)
})

test('letters survive kill -9', async () => {
  const path = freshPath()
  const script = `
    import { openDeadLetters } from '${join(import.meta.dir, '../../src/state/dead-letters.ts')}'
    import { systemClock } from '${join(import.meta.dir, '../../src/clock.ts')}'
    const dead = openDeadLetters({ path: ${JSON.stringify(path)}, maxBytes: 1e9, clock: systemClock, log: { debug() {} } })
    dead.bury([{ destination: 'points', account: 'alice', reason: 'r', record: 'survives' }])
    process.kill(process.pid, 'SIGKILL')`
  await Bun.spawn(['bun', '-e', script], { stdout: 'inherit', stderr: 'inherit' }).exited
  const dead = open(path)
  expect(dead.list('alice', { limit: 10 })).toMatchObject([{ record: 'survives' }])
})

test('on a full disk only that burial fails, and the other letters stay readable', async () => {
  const path = freshPath()
  // Files may grow to 256 KiB; the write beyond fails, as on a full disk.
  const script = `
    import { openDeadLetters } from '${join(import.meta.dir, '../../src/state/dead-letters.ts')}'
    import { systemClock } from '${join(import.meta.dir, '../../src/clock.ts')}'
    const dead = openDeadLetters({ path: ${JSON.stringify(path)}, maxBytes: 1e9, clock: systemClock, log: { debug() {} } })
    const letter = (record) => ({ destination: 'points', account: 'alice', reason: 'r', record })
    dead.bury([letter('before')])
    let message = 'none'
    try { dead.bury([letter('x'.repeat(400_000)), letter('y'.repeat(400_000))]) } catch (error) { message = error.name }
    const held = dead.list('alice', { limit: 10 }).map(({ record }) => record)
    console.log(JSON.stringify({ message, held, total: dead.stats().total }))`
  const child = Bun.spawn(['sh', '-c', 'trap "" XFSZ; ulimit -f 512; exec bun -e "$0"', script], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  expect(JSON.parse(await new Response(child.stdout).text())).toEqual({
    message: 'SQLiteError',
    held: ['before'],
    total: 1,
  })
  expect(await child.exited).toBe(0)
})

test('the file is made with the first letter', () => {
  const path = freshPath()
  const dead = open(path)
  dead.removeAccount('alice')
  expect([dead.remove('alice', '1'), dead.get('alice', '1'), dead.list('alice', { limit: 1 })]).toEqual([false, undefined, []]) // biome-ignore format: short
  expect([dead.count('alice'), dead.stats().total, dead.refusedPings.list('alice')]).toEqual([0, 0, []])
  expect(existsSync(path)).toBe(false)
  dead.bury([letter('r')])
  expect([dead.count('alice'), existsSync(path)]).toEqual([1, true])
  dead.close()
  expect(open(path).count('alice')).toBe(1)
})

test.skipIf(missing('tmpfs') !== undefined)('a read-only file is read, and written as soon as it can be', () => {
  const disk = mountSmallDisk(2)
  try {
    const path = join(disk.dir, 'dead.sqlite')
    const before = open(path)
    before.bury([letter('r')])
    before.close()
    disk.setReadOnly(true)
    const dead = open(path)
    expect([dead.list('alice', { limit: 1 })[0]!.record, dead.stats().total]).toEqual(['r', 1])
    dead.removeAccount('bob')
    expect(() => dead.bury([letter('another')])).toThrow('is read-only')
    expect(() => dead.remove('alice', '1')).toThrow('cannot be written; the letter is still there')
    expect([dead.remove('bob', '1'), dead.stats().total]).toEqual([false, 1])
    disk.setReadOnly(false)
    dead.bury([letter('another')])
    expect(dead.list('alice', { limit: 2 }).map(({ record }) => record)).toEqual(['another', 'r'])
    dead.close()
  } finally {
    disk.unmount()
  }
})

test('refuses a file that was cut with instructions and never replaces it with an empty one', () => {
  const path = freshPath()
  const dead = open(path)
  dead.bury(Array.from({ length: 50 }, (_, i) => letter(`${i} ${'x'.repeat(2000)}`)))
  dead.close()
  truncateSync(path, 8192)
  for (let start = 0; start < 2; start++)
    expect(() => open(path)).toThrow(
      /damaged: .*put a backup of \d+\.sqlite in its place and delete \d+\.sqlite-wal\. .*move/,
    )
  expect(statSync(path).size).toBe(8192)
})

describe('the version of the file', () => {
  test('refuses an SQLite file of another program', () => {
    const path = freshPath()
    const other = new Database(path)
    other.run('CREATE TABLE account (id TEXT)')
    other.close()
    expect(() => open(path)).toThrow("it does not hold Stint's dead letters")
  })
})
