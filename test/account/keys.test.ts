import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { loadKeyRing } from '../../src/account/key-ring.ts'
import { createKeys } from '../../src/account/keys.ts'
import { checksum } from '../../src/account/secret.ts'
import { toTime } from '../../src/clock.ts'
import { createSqliteDatabase } from '../../src/state/sqlite-database.ts'
import { ADA, BOB, codeOf, createManualClock, databases, openFreshDatabase } from './accounts-cast.ts'

for (const { database, open } of databases()) {
  const accounts = await open()
  const { clock, keys } = accounts
  const ada = (await accounts.create(ADA)).account.id
  const bob = (await accounts.create(BOB)).account.id

  describe(`keys in ${database}`, () => {
    afterAll(() => accounts.close())
    test('a key is a prefix, more than 160 hidden random bits and a checksum, and nothing else is one', async () => {
      const { secret, prefix } = await keys.create(ada, 'shape', ['write'])
      expect(secret).toMatch(/^stint_[0-9A-Za-z]{42}$/)
      expect(secret.startsWith(prefix)).toBe(true)
      expect(Math.log2(62) * (48 - prefix.length - 6)).toBeGreaterThan(160)
      expect(checksum(secret.slice(0, -6))).toBe(secret.slice(-6))
      const swapped = secret.replace(/[0-9A-Za-z](?=[0-9A-Za-z]{5}$)/, '_')
      const near = [swapped, `${secret} `, ` ${secret}`, secret.slice(0, -1), secret.toUpperCase()]
      const nonsense = ['', 'stint_', 'x', `stint_${'a'.repeat(42)}`, `stint_${'é'.repeat(42)}`, '\0'.repeat(48)]
      expect([...near, ...nonsense].filter((other) => accounts.findKey(other) !== undefined)).toEqual([])
      expect(accounts.findKey(secret)).toBeDefined()
    })

    test('keys, their last use, their end and an overlap are the same after a restart; ended ones leave after 30 days', async () => {
      const first = await open({ clock })
      const { account, key } = await first.create(ADA)
      const [revoked, replaced] = [
        await first.keys.create(account.id, 'revoked', ['read']),
        await first.keys.create(account.id, 'replaced', ['read']),
      ]
      clock.passS(100)
      const used = toTime(clock.wallUs() / 1000)
      for (const { secret } of [key, revoked, replaced]) expect(first.findKey(secret)).toBeDefined()
      await first.keys.revoke(account.id, revoked.id)
      expect(first.findKey(revoked.secret)).toBeUndefined()
      const fresh = await first.keys.rotate(account.id, replaced.id, 60)
      clock.passS(10)
      await first.keys.revoke(account.id, revoked.id) // it ended before
      await first.close()
      clock.passS(20)
      const again = await open({ path: first.path, clock })
      expect(again.findKey(revoked.secret)).toBeUndefined()
      expect(again.findKey(replaced.secret)).toBeDefined()
      clock.passS(30)
      expect(again.findKey(replaced.secret)).toBeUndefined()
      expect(again.findKey(fresh.secret)).toBeDefined()
      const listed = await again.keys.list(account.id)
      expect(listed.map(({ id }) => id)).toEqual([fresh.id, replaced.id, revoked.id, key.id])
      expect(listed.at(-1)?.last_used_at).toBe(used)
      expect(listed.at(-2)?.revoked_at).toBe(used)
      clock.passS(31 * 86_400)
      const left = async ({ keys }: typeof again) => (await keys.list(account.id)).map(({ id }) => id)
      expect(await left(again)).toEqual([fresh.id, key.id])
      await again.close()
      await using third = await open({ path: first.path, clock })
      expect(await left(third)).toEqual([fresh.id, key.id])
    })

    test('a key of one process has no right that a node of 2.0 reads, and keeps its process after a restart', async () => {
      const first = await open({ clock })
      const { account } = await first.create(ADA)
      const other = await first.create(BOB)
      const bound = { process: 'nightly', secret: crypto.randomUUID() }
      const { secret } = await first.keys.create(account.id, 'bound', ['ping'], undefined, bound)
      const known = { write: false, read: false, ping: true, manage: false, process: 'nightly' }
      expect(first.findKey(secret)).toMatchObject(known)
      const taken = () => first.keys.create(other.account.id, 'bound', ['ping'], undefined, bound)
      expect(await codeOf(taken)).toBe('key_taken')
      await first.close()
      const file = new Database(first.path) // of a node on PostgreSQL, its copy
      const rights =
        'SELECT may_write + may_read + may_ping + may_manage AS rights FROM api_key WHERE process IS NOT NULL'
      expect(file.query(rights).all()).toEqual([{ rights: 0 }])
      file.close()
      await using again = await open({ path: first.path, clock })
      expect(again.findKey(secret)).toMatchObject(known)
      const [listed] = await again.keys.list(account.id)
      expect([listed!.process, listed!.scopes]).toEqual(['nightly', ['ping']])
    })

    test('revoking and rotating cannot touch the key of another account', async () => {
      const key = await keys.create(ada, 'mine', ['write'])
      expect(await codeOf(() => keys.revoke(bob, key.id))).toBe('not_found')
      expect(await codeOf(() => keys.rotate(bob, key.id, 0))).toBe('not_found')
      expect(await codeOf(() => keys.revoke(ada, 'key_none'))).toBe('not_found')
      expect(accounts.findKey(key.secret)).toBeDefined()
    })

    test('rotating creates a key with the same name and scopes; the old key is valid exactly for the overlap', async () => {
      const old = await keys.create(ada, 'rotated', ['read'])
      const fresh = await keys.rotate(ada, old.id, 60)
      expect(fresh).toMatchObject({ name: 'rotated', scopes: ['read'] })
      expect(fresh.id).not.toBe(old.id)
      await keys.rotate(ada, old.id, 3600) // does not extend it
      clock.passS(59.999)
      expect(accounts.findKey(old.secret)).toBeDefined()
      clock.passS(0.001)
      expect(accounts.findKey(old.secret)).toBeUndefined()
      expect(accounts.findKey(fresh.secret)).toBeDefined()
      expect(await codeOf(() => keys.rotate(ada, old.id, 60))).toBe('not_found')
      clock.passS(-30) // the clock is set back
      expect(accounts.findKey(old.secret)).toBeUndefined()
      clock.passS(30)
    })

    test('a revoked key cannot be rotated, and a key in its overlap can be revoked', async () => {
      const old = await keys.create(ada, 'revoked', ['write'])
      await keys.rotate(ada, old.id, 60)
      await keys.revoke(ada, old.id)
      expect(accounts.findKey(old.secret)).toBeUndefined()
      expect(await codeOf(() => keys.rotate(ada, old.id, 60))).toBe('not_found')
    })
  })
}

test('removes ended keys while Stint runs and keeps those that are still listed', async () => {
  const clock = createManualClock()
  const file = openFreshDatabase()
  const { db, write, close } = file
  write(() =>
    db.run("INSERT INTO account (id, name, email, operator, created_ms) VALUES ('acc', 'a', 'a@example.com', 1, 0)"),
  )
  const fresh = createKeys(createSqliteDatabase(file), loadKeyRing(db, clock), () => clock.wallUs() / 1000)
  const create = (name: string) => fresh.create('acc', name, ['write'])
  const [revoked, replaced, kept] = [await create('revoked'), await create('replaced'), await create('kept')]
  const rows = () =>
    db
      .query<{ name: string }, []>('SELECT name FROM api_key ORDER BY rowid')
      .all()
      .map(({ name }) => name)
  await fresh.revoke('acc', revoked.id)
  await fresh.rotate('acc', replaced.id, 0)
  clock.passS(29 * 86_400)
  await fresh.flush()
  expect(rows()).toEqual(['revoked', 'replaced', 'kept', 'replaced'])
  await fresh.revoke('acc', kept.id)
  clock.passS(2 * 86_400)
  await fresh.flush()
  expect(rows()).toEqual(['kept', 'replaced'])
  close()
})
