import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import {
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { ACCOUNTS_FILE, openAccountsFile } from '../../src/account/open-accounts.ts'
import { newestVersion } from '../../src/state/schema.ts'
import { ADA, freshDir, openFresh, openFreshDatabase, silentLog } from './accounts-cast.ts'

const oldMask = process.umask(0o022)
afterEach(() => void process.umask(oldMask))

const pragma = (db: Database, name: string) =>
  Object.values(db.query(`PRAGMA ${name}`).get() as Record<string, unknown>)[0]

test('a new file is private, durable and strict', async () => {
  process.umask(0o000)
  const { db, path, write, close } = openFreshDatabase()
  expect(pragma(db, 'journal_mode')).toBe('wal')
  expect(pragma(db, 'synchronous')).toBe(2)
  expect(pragma(db, 'foreign_keys')).toBe(1)
  expect(pragma(db, 'user_version')).toBe(newestVersion(ACCOUNTS_FILE))
  const tables = db.query<{ name: string; strict: number }, []>('PRAGMA table_list').all()
  const ours = tables.filter(({ name }) => !name.startsWith('sqlite_'))
  expect(ours.length).toBeGreaterThan(4)
  expect(ours.every(({ strict }) => strict === 1)).toBe(true)
  write(() => db.run("INSERT INTO removal VALUES ('acc_1', 1)"))
  for (const suffix of ['', '-wal']) expect(statSync(path + suffix).mode & 0o777).toBe(0o600)
  expect(existsSync(`${path}-shm`)).toBe(false) // 32 KiB that a full disk does not have
  close()
})

test("removes other users' access to an existing file", async () => {
  const { path, close } = openFreshDatabase()
  close()
  Bun.spawnSync(['chmod', '644', path])
  openFreshDatabase(path).close()
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('a write on a full disk is refused with retry-after and changes nothing', async () => {
  const { db, write, close } = openFreshDatabase()
  const { page_count } = db.query<{ page_count: number }, []>('PRAGMA page_count').get()!
  db.run(`PRAGMA max_page_count = ${page_count}`)
  const insert = db.query('INSERT INTO removal VALUES (?1 || hex(randomblob(500)), 1)')
  const fill = () => write(() => Array.from({ length: 20 }, (_, i) => insert.run(String(i))))
  expect(fill).toThrow(expect.objectContaining({ name: 'Problem', code: 'disk_low', status: 503, retryAfterS: 5 }))
  expect(db.query('SELECT * FROM removal').all()).toEqual([])
  db.run(`PRAGMA max_page_count = ${page_count + 100}`)
  fill()
  expect(db.query('SELECT * FROM removal').all()).toHaveLength(20)
  close()
})

test('every write has reached the main file when it returns, so a damaged WAL loses nothing', async () => {
  await using accounts = openFresh()
  const { account, key } = await accounts.create(ADA)
  const copy = join(freshDir(), 'accounts.sqlite')
  copyFileSync(accounts.path, copy)
  expect(statSync(`${accounts.path}-wal`).size).toBe(0)
  const restored = openFresh({ path: copy })
  expect(restored.findKey(key.secret)?.account).toBe(account.id)
  await restored.close()
})

test('rolls back a write that throws', async () => {
  const { db, write, close } = openFreshDatabase()
  expect(() =>
    write(() => {
      db.run("INSERT INTO removal VALUES ('acc_1', 1)")
      throw new Error('stop')
    }),
  ).toThrow('stop')
  expect(db.query('SELECT * FROM removal').all()).toEqual([])
  close()
})

test('opens a file that was restored in another journal mode', async () => {
  const { db, path, close } = openFreshDatabase()
  const copy = join(freshDir(), 'accounts.sqlite')
  db.run(`VACUUM INTO '${copy}'`)
  close()
  const restored = openAccountsFile(copy, silentLog)
  expect(pragma(restored.db, 'journal_mode')).toBe('wal')
  restored.write(() => restored.db.run("INSERT INTO removal VALUES ('acc_1', 1)"))
  expect(statSync(`${copy}-wal`).size).toBe(0)
  await restored.close()
  expect(path).not.toBe(copy)
})

describe('refuses a damaged file and reports how to restore it', () => {
  const fullFile = async (): Promise<string> => {
    const accounts = openFresh()
    const { account } = await accounts.create(ADA)
    for (let i = 0; i < 50; i++) await accounts.keys.create(account.id, `key ${i}`, ['write'])
    await accounts.close()
    return accounts.path
  }
  const refusal = async (path: string): Promise<string> => {
    try {
      await openFresh({ path }).close()
    } catch (error) {
      return (error as Error).message
    }
    return 'it was opened'
  }
  const RESTORE = /is damaged: .*put a backup of accounts\.sqlite in its place and delete accounts\.sqlite-wal/

  test.each<[string, (path: string) => void]>([
    ['an empty file', (path) => truncateSync(path, 0)],
    ['a file cut to its first page', (path) => truncateSync(path, 4096)],
    ['a file that lost its last page', (path) => truncateSync(path, statSync(path).size - 4096)],
    ['a file of something else', (path) => writeFileSync(path, 'hello, I am no database at all\n'.repeat(400))],
    ['a missing file with its log', (path) => renameSync(path, `${path}-wal`)],
    [
      'zeros in its middle',
      (path) => {
        const bytes = readFileSync(path)
        bytes.fill(0, 8192, 8192 + 4096)
        writeFileSync(path, bytes)
      },
    ],
    [
      'an empty database of somebody else',
      (path) => {
        rmSync(path)
        const db = new Database(path)
        db.run('CREATE TABLE account (id TEXT)')
        db.run('PRAGMA user_version = 1')
        db.close()
      },
    ],
    [
      'missing rows',
      (path) => {
        const db = new Database(path)
        db.run('PRAGMA foreign_keys = OFF')
        db.run('DELETE FROM account')
        db.close()
      },
    ],
  ])('%s', async (_, damage) => {
    const path = await fullFile()
    damage(path)
    expect(await refusal(path)).toMatch(RESTORE)
    // A second start does not take it for a new file either.
    expect(await refusal(path)).toMatch(RESTORE)
  })

  test.each([
    ['newer', 999, /was written by a newer Stint .*start that version/],
    ['older', 4, /was written by a Stint before 2\.0: start 2\.0 once, then this version/],
  ])('refuses a file of a %s Stint, and leaves it as it is', async (_, version, expected) => {
    const path = await fullFile()
    const db = new Database(path)
    db.run(`PRAGMA user_version = ${version}`)
    db.close()
    const bytes = readFileSync(path)
    expect(await refusal(path)).toMatch(expected)
    expect(readFileSync(path).equals(bytes)).toBe(true)
  })

  test('a half-created file left by a killed start is created again', async () => {
    const path = join(freshDir(), 'accounts.sqlite')
    writeFileSync(`${path}.new`, 'half a database')
    await openFresh({ path }).close()
    expect(statSync(path).size).toBeGreaterThan(4096)
  })
})
