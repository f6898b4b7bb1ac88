import { afterAll, describe, expect, test } from 'bun:test'
import { createSessions } from '../../src/account/sessions.ts'
import { toTime } from '../../src/clock.ts'
import { createSqliteDatabase } from '../../src/state/sqlite-database.ts'
import { createLogLines } from '../spool/spool-trial.ts'
import { ADA, BOB, createManualClock, databases, openFresh, openFreshDatabase } from './accounts-cast.ts'

const DAY_S = 86_400
for (const { database, open } of databases()) {
  const accounts = await open()
  const { clock, sessions } = accounts
  const ada = (await accounts.create(ADA)).seat
  const bob = (await accounts.create(BOB)).seat

  describe(`sessions in ${database}`, () => {
    afterAll(() => accounts.close())
    test('a session ends after seven days without use', async () => {
      const token = await sessions.create({ ...ada, userAgent: 'idle' })
      clock.passS(7 * DAY_S - 1)
      expect(await sessions.find(token)).toBeDefined()
      clock.passS(7 * DAY_S - 1)
      expect(await sessions.find(token)).toBeDefined()
      clock.passS(7 * DAY_S)
      expect(await sessions.find(token)).toBeUndefined()
    })

    test('a session in use ends after thirty days', async () => {
      const token = await sessions.create({ ...ada, userAgent: 'busy' })
      for (let day = 6; day < 30; day += 6) {
        clock.passS(6 * DAY_S)
        expect(await sessions.find(token)).toBeDefined()
      }
      clock.passS(5 * DAY_S)
      expect((await sessions.list(ada.person))[0]?.expires_at).toBe(toTime(clock.wallUs() / 1000 + DAY_S * 1000))
      clock.passS(DAY_S)
      expect(await sessions.find(token)).toBeUndefined()
    })

    test('lists the sessions of a person, most recently seen first', async () => {
      const first = await sessions.create({ ...bob, userAgent: 'phone' })
      clock.passS(120)
      await sessions.create({ ...bob, userAgent: `desk\ud800${'x'.repeat(1000)}` })
      clock.passS(120)
      await sessions.find(first)
      const list = await sessions.list(bob.person)
      expect(list.map(({ user_agent }) => user_agent.slice(0, 5))).toEqual(['phone', 'desk\ufffd'])
      expect(list[0]).toMatchObject({
        last_seen_at: toTime(clock.wallUs() / 1000),
        created_at: toTime(clock.wallUs() / 1000 - 240_000),
        expires_at: toTime(clock.wallUs() / 1000 + 7 * DAY_S * 1000),
      })
      expect(list[1]?.user_agent).toHaveLength(300)
    })

    test('sessions survive a restart', async () => {
      const first = await open({ clock })
      const { account, seat } = await first.create(ADA)
      const token = await first.sessions.create({ ...seat, userAgent: 'browser' })
      await first.close()
      await using again = await open({ path: first.path, clock })
      expect((await again.sessions.find(token))?.account).toBe(account.id)
    })
  })
}

test('a person has at most a hundred sessions; the oldest are removed', async () => {
  await using accounts = openFresh()
  const { seat } = await accounts.create(ADA)
  const { sessions } = accounts
  const tokens: string[] = []
  for (let i = 0; i < 101; i++) tokens.push(await sessions.create({ ...seat, userAgent: 'many' }))
  expect(await sessions.find(tokens[0]!)).toBeUndefined()
  expect(await sessions.find(tokens[1]!)).toBeDefined()
  expect(await sessions.list(seat.person)).toHaveLength(100)
})

test('sessions stay valid while the disk is full; their last use is written afterwards', async () => {
  const clock = createManualClock()
  const file = openFreshDatabase()
  const { db, write, close } = file
  write(() => {
    db.run("INSERT INTO account (id, name, email, operator, created_ms) VALUES ('acc', 'a', 'a@example.com', 1, 0)")
    db.run("INSERT INTO person (id, email, created_ms) VALUES ('per', 'a@example.com', 0)")
    db.run("INSERT INTO membership (account, person, role, since_ms) VALUES ('acc', 'per', 'owner', 0)")
  })
  const { log, lines } = createLogLines()
  const found = createSessions(createSqliteDatabase(file), () => clock.wallUs() / 1000, log)
  const token = await found.create({ account: 'acc', person: 'per', userAgent: 'browser' })
  const created = toTime(clock.wallUs() / 1000)
  const pages = Object.values(db.query('PRAGMA page_count').get() as object)[0] as number
  db.run(`PRAGMA max_page_count = ${pages}`)
  db.run(
    'CREATE TRIGGER fills BEFORE UPDATE ON session BEGIN INSERT INTO removal VALUES (hex(zeroblob(200000)), 1); END',
  )
  for (let i = 0; i < 3; i++) {
    clock.passS(120)
    expect((await found.find(token))?.account).toBe('acc')
  }
  expect((await found.list('per'))[0]?.last_seen_at).toBe(created)
  expect(lines).toMatchObject([{ level: 40, err: { code: 'disk_low' } }]) // once, not at each request
  db.run('DROP TRIGGER fills')
  expect((await found.find(token))?.account).toBe('acc')
  expect((await found.list('per'))[0]?.last_seen_at).toBe(toTime(clock.wallUs() / 1000))
  close()
})
