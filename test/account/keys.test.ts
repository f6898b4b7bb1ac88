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
    describe('a key', () => {
      test('consists of a prefix, more than 160 hidden random bits, and a checksum', async () => {
        const { secret, prefix } = await keys.create(ada, 'shape', ['write'])
        expect(secret).toMatch(/^stint_[0-9A-Za-z]{42}$/)
        expect(secret.startsWith(prefix)).toBe(true)
        expect(Math.log2(62) * (48 - prefix.length - 6)).toBeGreaterThan(160)
        expect(checksum(secret.slice(0, -6))).toBe(secret.slice(-6))
      })

      test.each(['', 'stint_', 'x', `stint_${'a'.repeat(42)}`, `stint_${'é'.repeat(42)}`, '\0'.repeat(48)])(
        'is not %j',
        (secret) => expect(accounts.findKey(secret)).toBeUndefined(),
      )

      test('is not found with a changed letter or case', async () => {
        const { secret } = await keys.create(ada, 'exact', ['write'])
        const swapped = secret.replace(/[a-z](?=[0-9A-Za-z]{5}$)|[A-Z](?=[0-9A-Za-z]{5}$)|\d(?=[0-9A-Za-z]{5}$)/, '_')
        for (const other of [swapped, `${secret} `, ` ${secret}`, secret.slice(0, -1), secret.toUpperCase()]) {
          expect(accounts.findKey(other)).toBeUndefined()
        }
        expect(accounts.findKey(secret)).toBeDefined()
      })

      test('works after a restart and keeps its last use to the ms', async () => {
        const first = await open({ clock })
        const { account, key } = await first.create(ADA)
        clock.passS(100)
        first.findKey(key.secret)
        const used = toTime(clock.wallUs() / 1000)
        expect((await first.keys.list(account.id))[0]?.last_used_at).toBe(used)
        await first.close()
        clock.passS(100)
        await using again = await open({ path: first.path, clock })
        expect((await again.keys.list(account.id))[0]?.last_used_at).toBe(used)
        expect(again.findKey(key.secret)?.account).toBe(account.id)
      })
    })

    describe('a list', () => {
      test("holds only the account's keys, newest first, without secrets", async () => {
        const first = await keys.create(bob, 'first', ['write'])
        const second = await keys.create(bob, 'second', ['read'])
        const list = await keys.list(bob)
        expect(list.map((key) => key.name)).toEqual(['second', 'first', 'first key'])
        expect(list[0]).toEqual({
          id: second.id,
          name: 'second',
          prefix: second.secret.slice(0, 12),
          scopes: ['read'],
          created_at: toTime(clock.wallUs() / 1000),
          last_used_at: null,
          expires_at: null,
          revoked_at: null,
          creator: list[0]!.creator,
        })
        expect(JSON.stringify(list)).not.toContain(first.secret.slice(12, 30))
      })
    })

    describe('revoking', () => {
      test('takes effect immediately and after a restart, and the key is still listed', async () => {
        const first = await open({ clock })
        const { account, key } = await first.create(ADA)
        expect(first.findKey(key.secret)).toBeDefined()
        await first.keys.revoke(account.id, key.id)
        expect(first.findKey(key.secret)).toBeUndefined()
        const revoked_at = toTime(clock.wallUs() / 1000)
        clock.passS(10)
        await first.keys.revoke(account.id, key.id)
        await first.close()
        await using again = await open({ path: first.path, clock })
        expect(again.findKey(key.secret)).toBeUndefined()
        expect(await again.keys.list(account.id)).toMatchObject([{ id: key.id, revoked_at }])
      })

      test('cannot touch the key of another account', async () => {
        const key = await keys.create(ada, 'mine', ['write'])
        expect(await codeOf(() => keys.revoke(bob, key.id))).toBe('not_found')
        expect(await codeOf(() => keys.rotate(bob, key.id, 0))).toBe('not_found')
        expect(await codeOf(() => keys.revoke(ada, 'key_none'))).toBe('not_found')
        expect(accounts.findKey(key.secret)).toBeDefined()
      })
    })

    describe('rotating', () => {
      test('creates a key with the same name and scopes; the old key is valid exactly for the overlap', async () => {
        const old = await keys.create(ada, 'rotated', ['read'])
        const fresh = await keys.rotate(ada, old.id, 60)
        expect(fresh).toMatchObject({ name: 'rotated', scopes: ['read'] })
        expect(fresh.id).not.toBe(old.id)
        clock.passS(59.999)
        expect(accounts.findKey(old.secret)).toBeDefined()
        clock.passS(0.001)
        expect(accounts.findKey(old.secret)).toBeUndefined()
        expect(accounts.findKey(fresh.secret)).toBeDefined()
      })

      test('rotating again never extends the validity of an old key', async () => {
        const old = await keys.create(ada, 'twice', ['write'])
        await keys.rotate(ada, old.id, 60)
        await keys.rotate(ada, old.id, 3600)
        clock.passS(60)
        expect(accounts.findKey(old.secret)).toBeUndefined()
        expect(await codeOf(() => keys.rotate(ada, old.id, 60))).toBe('not_found')
      })

      test('a revoked key cannot be rotated, and a key in its overlap can be revoked', async () => {
        const old = await keys.create(ada, 'revoked', ['write'])
        await keys.rotate(ada, old.id, 60)
        await keys.revoke(ada, old.id)
        expect(accounts.findKey(old.secret)).toBeUndefined()
        expect(await codeOf(() => keys.rotate(ada, old.id, 60))).toBe('not_found')
      })

      test('an overlap ends at the same time after a restart', async () => {
        const first = await open({ clock })
        const { account, key } = await first.create(ADA)
        await first.keys.rotate(account.id, key.id, 60)
        await first.close()
        clock.passS(30)
        await using again = await open({ path: first.path, clock })
        expect(again.findKey(key.secret)).toBeDefined()
        clock.passS(30)
        expect(again.findKey(key.secret)).toBeUndefined()
      })
    })

    test('keys that ended more than 30 days ago are removed', async () => {
      const first = await open({ clock })
      const { account, key } = await first.create(ADA)
      expect(first.findKey(key.secret)).toBeDefined()
      const fresh = await first.keys.rotate(account.id, key.id, 0)
      expect(first.findKey(key.secret)).toBeUndefined()
      clock.passS(31 * 86_400)
      expect((await first.keys.list(account.id)).map(({ id }) => id)).toEqual([fresh.id])
      await first.close()
      await using again = await open({ path: first.path, clock })
      expect((await again.keys.list(account.id)).map(({ id }) => id)).toEqual([fresh.id])
    })

    test('an expired key that was used stays expired when the clock is set back', async () => {
      const old = await keys.create(ada, 'ended', ['write'])
      await keys.rotate(ada, old.id, 60)
      clock.passS(60)
      expect(accounts.findKey(old.secret)).toBeUndefined()
      clock.passS(-30)
      expect(accounts.findKey(old.secret)).toBeUndefined()
      clock.passS(30)
    })
  })
}

test('removes ended keys while Stint runs and keeps those that are still listed', async () => {
  const clock = createManualClock()
  const file = openFreshDatabase()
  const { db, write, close } = file
  write(() => db.run("INSERT INTO account VALUES ('acc', 'a', 'a@example.com', 1, 0)"))
  const fresh = createKeys(createSqliteDatabase(file), loadKeyRing(db, clock), clock)
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
