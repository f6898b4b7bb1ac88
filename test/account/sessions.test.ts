import { afterAll, expect, test } from 'bun:test'
import { createSessions } from '../../src/account/sessions.ts'
import { createLogLines } from '../spool/spool-trial.ts'
import { ADA, BOB, openFresh, openFreshDatabase, problemOf } from './accounts-cast.ts'

const DAY_S = 86_400
const accounts = openFresh()
const { clock, sessions } = accounts
const ada = (await accounts.create(ADA)).account.id
const bob = (await accounts.create(BOB)).account.id
afterAll(() => accounts.close())

test('a token finds its session; others find nothing', () => {
  const token = sessions.create(ada, 'browser')
  expect(token).toMatch(/^[0-9A-Za-z]{43}$/)
  expect(sessions.find(token)?.account).toBe(ada)
  expect(sessions.find(`${token}x`)).toBeUndefined()
  expect(sessions.find('')).toBeUndefined()
})

test('a session ends after seven days without use', () => {
  const token = sessions.create(ada, 'idle')
  clock.passS(7 * DAY_S - 1)
  expect(sessions.find(token)).toBeDefined()
  clock.passS(7 * DAY_S - 1)
  expect(sessions.find(token)).toBeDefined()
  clock.passS(7 * DAY_S)
  expect(sessions.find(token)).toBeUndefined()
})

test('a session in use ends after thirty days', () => {
  const token = sessions.create(ada, 'busy')
  for (let day = 1; day < 30; day++) {
    clock.passS(DAY_S)
    expect(sessions.find(token)).toBeDefined()
  }
  expect(sessions.list(ada)[0]?.expiresMs).toBe(clock.wallUs() / 1000 + DAY_S * 1000)
  clock.passS(DAY_S)
  expect(sessions.find(token)).toBeUndefined()
})

test('signing in again ends the session before', () => {
  const first = sessions.create(ada, 'browser')
  const second = sessions.create(ada, 'browser', first)
  expect(sessions.find(first)).toBeUndefined()
  expect(sessions.find(second)).toBeDefined()
})

test('the list shows where somebody is signed in, the one last seen first', () => {
  const first = sessions.create(bob, 'phone')
  clock.passS(120)
  sessions.create(bob, `desk\ud800${'x'.repeat(1000)}`)
  clock.passS(120)
  sessions.find(first)
  const list = sessions.list(bob)
  expect(list.map(({ userAgent }) => userAgent.slice(0, 5))).toEqual(['phone', 'desk\ufffd'])
  expect(list[0]).toMatchObject({
    seenMs: clock.wallUs() / 1000,
    createdMs: clock.wallUs() / 1000 - 240_000,
    expiresMs: clock.wallUs() / 1000 + 7 * DAY_S * 1000,
  })
  expect(list[1]?.userAgent).toHaveLength(300)
})

test('revoking ends a session at once, but only an own one', async () => {
  const token = sessions.create(ada, 'mine')
  const { id } = sessions.find(token)!
  expect((await problemOf(() => sessions.revoke(bob, id))).code).toBe('not_found')
  sessions.revoke(ada, id)
  expect(sessions.find(token)).toBeUndefined()
  expect((await problemOf(() => sessions.revoke(ada, id))).code).toBe('not_found')
})

test('sessions outlast a restart', async () => {
  const first = openFresh({ clock })
  const { account } = await first.create(ADA)
  const token = first.sessions.create(account.id, 'browser')
  first.close()
  const again = openFresh({ path: first.path, clock })
  expect(again.sessions.find(token)?.account).toBe(account.id)
  again.close()
})

test('a disk that takes no write ends no session; it is noted as seen when the disk does again', async () => {
  const { db, write, close } = openFreshDatabase()
  write(() => db.run("INSERT INTO account VALUES ('acc', 'a@example.com', 'x', 1, 0)"))
  const { log, lines } = createLogLines()
  const found = createSessions({ db, write, close }, clock, log)
  const token = found.create('acc', 'browser')
  const createdMs = clock.wallUs() / 1000
  const pages = Object.values(db.query('PRAGMA page_count').get() as object)[0] as number
  db.run(`PRAGMA max_page_count = ${pages}`)
  db.run(
    'CREATE TRIGGER fills BEFORE UPDATE ON session BEGIN INSERT INTO removal VALUES (hex(zeroblob(200000)), 1); END',
  )
  for (let i = 0; i < 3; i++) {
    clock.passS(120)
    expect(found.find(token)?.account).toBe('acc')
  }
  expect(found.list('acc')[0]?.seenMs).toBe(createdMs)
  expect(lines).toMatchObject([{ level: 40, err: { code: 'disk_low' } }]) // once, not at each request
  db.run('DROP TRIGGER fills')
  expect(found.find(token)?.account).toBe('acc')
  expect(found.list('acc')[0]?.seenMs).toBe(clock.wallUs() / 1000)
  close()
})

test('an account has at most a hundred; the oldest give way', () => {
  const tokens = Array.from({ length: 101 }, () => sessions.create(ada, 'many'))
  expect(sessions.find(tokens[0]!)).toBeUndefined()
  expect(sessions.find(tokens[1]!)).toBeDefined()
  expect(sessions.list(ada)).toHaveLength(100)
})
