import { afterAll, describe, expect, test } from 'bun:test'
import { loadKeys } from '../../src/account/keys.ts'
import { checksum } from '../../src/account/secret.ts'
import { ADA, BOB, openFresh, openFreshDatabase, problemOf } from './accounts-cast.ts'

const accounts = openFresh()
const { clock, keys } = accounts
const ada = (await accounts.create(ADA)).account.id
const bob = (await accounts.create(BOB)).account.id
afterAll(() => accounts.close())

describe('a key', () => {
  test('is a prefix, more than 160 random bits beyond what is shown, and a checksum', () => {
    const { secret, prefix } = keys.create(ada, 'shape', ['write'])
    expect(secret).toMatch(/^stint_[0-9A-Za-z]{42}$/)
    expect(secret.startsWith(prefix)).toBe(true)
    expect(Math.log2(62) * (48 - prefix.length - 6)).toBeGreaterThan(160)
    expect(checksum(secret.slice(0, -6))).toBe(secret.slice(-6))
  })

  test('carries its scopes and nothing more', () => {
    const write = keys.create(ada, 'w', ['write'])
    const read = keys.create(ada, 'r', ['read'])
    expect(accounts.findKey(write.secret)).toMatchObject({ keyId: write.id, account: ada, write: true, read: false })
    expect(accounts.findKey(read.secret)).toMatchObject({ keyId: read.id, account: ada, write: false, read: true })
  })

  test.each(['', 'stint_', 'x', `stint_${'a'.repeat(42)}`, `stint_${'é'.repeat(42)}`, '\0'.repeat(48)])(
    'is not %j',
    (secret) => expect(accounts.findKey(secret)).toBeUndefined(),
  )

  test('is not found with another letter or another case', () => {
    const { secret } = keys.create(ada, 'exact', ['write'])
    const swapped = secret.replace(/[a-z](?=[0-9A-Za-z]{5}$)|[A-Z](?=[0-9A-Za-z]{5}$)|\d(?=[0-9A-Za-z]{5}$)/, '_')
    for (const other of [swapped, `${secret} `, ` ${secret}`, secret.slice(0, -1), secret.toUpperCase()]) {
      expect(accounts.findKey(other)).toBeUndefined()
    }
    expect(accounts.findKey(secret)).toBeDefined()
  })

  test('works over a restart, and its last use is kept to the ms', async () => {
    const first = openFresh({ clock })
    const { account, key } = await first.create(ADA)
    clock.passS(100)
    first.findKey(key.secret)
    const usedMs = clock.wallUs() / 1000
    expect(first.keys.list(account.id)[0]?.lastUsedMs).toBe(usedMs)
    first.close()
    clock.passS(100)
    const again = openFresh({ path: first.path, clock })
    expect(again.keys.list(account.id)[0]?.lastUsedMs).toBe(usedMs)
    expect(again.findKey(key.secret)?.account).toBe(account.id)
    again.close()
  })
})

describe('a list', () => {
  test('holds the own keys alone, the newest first, and no secret', () => {
    const first = keys.create(bob, 'first', ['write'])
    const second = keys.create(bob, 'second', ['read'])
    const list = keys.list(bob)
    expect(list.map((key) => key.name)).toEqual(['second', 'first', 'first key'])
    expect(list[0]).toEqual({
      id: second.id,
      name: 'second',
      prefix: second.secret.slice(0, 12),
      scopes: ['read'],
      createdMs: clock.wallUs() / 1000,
      lastUsedMs: null,
      expiresMs: null,
      revokedMs: null,
    })
    expect(JSON.stringify(list)).not.toContain(first.secret.slice(12, 30))
  })
})

describe('revoking', () => {
  test('ends a key at once, now and over a restart, and is still listed', async () => {
    const first = openFresh({ clock })
    const { account, key } = await first.create(ADA)
    first.keys.revoke(account.id, key.id)
    expect(first.findKey(key.secret)).toBeUndefined()
    const revokedMs = clock.wallUs() / 1000
    clock.passS(10)
    first.keys.revoke(account.id, key.id)
    first.close()
    const again = openFresh({ path: first.path, clock })
    expect(again.findKey(key.secret)).toBeUndefined()
    expect(again.keys.list(account.id)).toMatchObject([{ id: key.id, revokedMs }])
    again.close()
  })

  test('cannot touch the key of another account', async () => {
    const key = keys.create(ada, 'mine', ['write'])
    expect((await problemOf(() => keys.revoke(bob, key.id))).code).toBe('not_found')
    expect((await problemOf(() => keys.rotate(bob, key.id, 0))).code).toBe('not_found')
    expect((await problemOf(() => keys.revoke(ada, 'key_none'))).code).toBe('not_found')
    expect(accounts.findKey(key.secret)).toBeDefined()
  })
})

describe('rotating', () => {
  test('gives a new key of the same name and scopes; the old one lasts as long as asked and not longer', () => {
    const old = keys.create(ada, 'rotated', ['read'])
    const fresh = keys.rotate(ada, old.id, 60)
    expect(fresh).toMatchObject({ name: 'rotated', scopes: ['read'] })
    expect(fresh.id).not.toBe(old.id)
    clock.passS(59.999)
    expect(accounts.findKey(old.secret)).toBeDefined()
    clock.passS(0.001)
    expect(accounts.findKey(old.secret)).toBeUndefined()
    expect(accounts.findKey(fresh.secret)).toBeDefined()
  })

  test('without an overlap the old one ends at once', () => {
    const old = keys.create(ada, 'at once', ['write'])
    keys.rotate(ada, old.id, 0)
    expect(accounts.findKey(old.secret)).toBeUndefined()
  })

  test('again, an old one never lasts longer than it was told before', async () => {
    const old = keys.create(ada, 'twice', ['write'])
    keys.rotate(ada, old.id, 60)
    keys.rotate(ada, old.id, 3600)
    clock.passS(60)
    expect(accounts.findKey(old.secret)).toBeUndefined()
    expect((await problemOf(() => keys.rotate(ada, old.id, 60))).code).toBe('not_found')
  })

  test('a revoked key cannot be rotated back to life, and one in its overlap can be revoked', async () => {
    const old = keys.create(ada, 'revoked', ['write'])
    keys.rotate(ada, old.id, 60)
    keys.revoke(ada, old.id)
    expect(accounts.findKey(old.secret)).toBeUndefined()
    expect((await problemOf(() => keys.rotate(ada, old.id, 60))).code).toBe('not_found')
  })

  test('the end of an overlap holds over a restart', async () => {
    const first = openFresh({ clock })
    const { account, key } = await first.create(ADA)
    first.keys.rotate(account.id, key.id, 60)
    first.close()
    clock.passS(30)
    const again = openFresh({ path: first.path, clock })
    expect(again.findKey(key.secret)).toBeDefined()
    clock.passS(30)
    expect(again.findKey(key.secret)).toBeUndefined()
    again.close()
  })
})

test('keys that ended more than 30 days ago are forgotten', async () => {
  const first = openFresh({ clock })
  const { account, key } = await first.create(ADA)
  const fresh = first.keys.rotate(account.id, key.id, 0)
  clock.passS(31 * 86_400)
  expect(first.keys.list(account.id).map(({ id }) => id)).toEqual([fresh.id])
  first.close()
  const again = openFresh({ path: first.path, clock })
  expect(again.keys.list(account.id).map(({ id }) => id)).toEqual([fresh.id])
  again.close()
})

test('they are forgotten while Stint runs, and the flush that removes one keeps those that are still listed', () => {
  const { db, write, close } = openFreshDatabase()
  write(() => db.run("INSERT INTO account VALUES ('acc', 'a@example.com', 'x', 1, 0)"))
  const fresh = loadKeys({ db, write, close }, clock)
  const [revoked, replaced, kept] = ['revoked', 'replaced', 'kept'].map((name) => fresh.create('acc', name, ['write']))
  const rows = () =>
    db
      .query<{ name: string }, []>('SELECT name FROM api_key ORDER BY rowid')
      .all()
      .map(({ name }) => name)
  fresh.revoke('acc', revoked!.id)
  fresh.rotate('acc', replaced!.id, 0)
  clock.passS(29 * 86_400)
  fresh.flush()
  expect(rows()).toEqual(['revoked', 'replaced', 'kept', 'replaced'])
  fresh.revoke('acc', kept!.id)
  clock.passS(2 * 86_400)
  fresh.flush()
  expect(rows()).toEqual(['kept', 'replaced'])
  close()
})

test('a key that was met after its end stays ended when the clock is set back', () => {
  const old = keys.create(ada, 'ended', ['write'])
  keys.rotate(ada, old.id, 60)
  clock.passS(60)
  expect(accounts.findKey(old.secret)).toBeUndefined()
  clock.passS(-30)
  expect(accounts.findKey(old.secret)).toBeUndefined()
  clock.passS(30)
})
