// One account's dead letters must not stop everybody's delivery: beyond its share its events are refused, so that the rest
// of the room is there for the others, and the operator is warned before all is full.
import { expect, test } from 'bun:test'
import { startApp } from '../support/app.ts'
import { PASSWORD } from '../support/caller.ts'

const MAX_BYTES = 400_000
const SETTINGS = { DEAD_MAX_BYTES: String(MAX_BYTES), SIGNUP: 'open' }

const letters = (account: string, from: number, count: number) =>
  Array.from({ length: count }, (_, i) => {
    const record = `${from + i}`.padEnd(10_000)
    return { destination: 'points', account, reason: 'a type', record }
  })

test('an account at its share is refused that kind of event; others, and its other kinds, are taken', async () => {
  await using app = await startApp({ signup: 'open', env: SETTINGS })
  const { rooms, account } = app
  const bob = await rooms.accounts.create({ email: 'bob@example.com', password: PASSWORD, address: '127.0.0.1' })
  const start = (key: string) => app.fetch('/v1/start', { method: 'POST', key, ...json({ process: 'p' }) })
  rooms.deadLetters.bury(letters(account, 0, 9))
  expect((await start(app.keys.owner)).status).toBe(201)
  rooms.deadLetters.bury(letters(account, 9, 1))
  const refused = await start(app.keys.owner)
  expect([refused.status, refused.json.code]).toEqual([503, 'spool_full'])
  expect(refused.json.detail).toContain('dead letters')
  const batch = [{ kind: 'start', process: 'p' }]
  expect((await app.post('/v1/batch', batch)).status).toBe(503)
  expect((await app.post('/v1/exception', { process: 'p', exception: 'e' })).status).toBe(201)
  expect((await start(bob.key.secret)).status).toBe(201)
  const [letter] = rooms.deadLetters.list(account, { limit: 1 })
  rooms.deadLetters.remove(account, letter!.id)
  expect((await start(app.keys.owner)).status).toBe(201)
})

test('from 90 % on the operator is warned, in the log once and in /api/health, until there is room', async () => {
  await using app = await startApp({ env: SETTINGS })
  const { deadLetters } = app.rooms
  const warnings = async () => (await app.fetch('/api/health', { key: app.keys.owner })).json.warnings
  const logged = () => app.log.filter((line) => line.includes('the dead letters are almost full')).length
  deadLetters.bury(letters(app.account, 0, 35))
  expect([await warnings(), logged()]).toEqual([[], 0])
  deadLetters.bury(letters(app.account, 35, 1))
  deadLetters.bury(letters(app.account, 36, 1))
  expect(await warnings()).toMatchObject([{ code: 'dead_letters_full' }])
  expect(logged()).toBe(1)
  deadLetters.removeAccount(app.account)
  expect(await warnings()).toEqual([])
})

const json = (body: object) => ({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
