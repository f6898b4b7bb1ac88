// `stint accounts copy`: everything of accounts.sqlite works from PostgreSQL, and nothing is mixed with other accounts.
import { describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openPostgres } from '../../../src/state/postgres.ts'
import { createWatchStore } from '../../../src/watch/storage/create-watch-store.ts'
import { createPerson } from '../../cli/cli-cast.ts'
import { missing } from '../../support/needs.ts'
import { sharedPostgres } from '../../support/postgres.ts'
import {
  alertOf,
  channelOf,
  dueOf,
  judgedOf,
  notificationOf,
  opened,
  openStore,
  watchOf,
} from '../../watch/watch-cast.ts'
import { ADA, BOB, freshDir, openFresh, openShared } from '../accounts-cast.ts'

describe.skipIf(missing('postgresql') !== undefined)('stint accounts copy', () => {
  const person = createPerson('http://127.0.0.1:1')
  const copy = (DATA_DIR: string, DATABASE_URL: string) =>
    person.run('accounts copy', { env: { DATA_DIR, DATABASE_URL } })
  async function makeSource(): Promise<{ dir: string; secret: string; revoked: string; token: string }> {
    const dir = freshDir()
    mkdirSync(dir, { recursive: true })
    const source = openFresh({ path: join(dir, 'accounts.sqlite'), seriesMax: 10 })
    const { account, key, seat } = await source.create(ADA)
    await source.create(BOB)
    const revoked = await source.keys.create(account.id, 'revoked', ['read', 'manage'])
    await source.keys.revoke(account.id, revoked.id)
    const token = await source.sessions.create({ ...seat, userAgent: 'browser' })
    source.series.admit(account.id, 'p', '', ['a', 'b'])
    await source.notes.put(account.id, { process: 'p', note: 'call ada' }, ADA.email)
    await source.close()
    return { dir, secret: key.secret, revoked: revoked.secret, token }
  }

  test('copies accounts, keys and sessions, and can be repeated', async () => {
    const { dir, secret, revoked, token } = await makeSource()
    const url = await (await sharedPostgres()).createDatabase()
    for (let i = 0; i < 2; i++) {
      const { exitCode, stderr } = await copy(dir, url)
      expect([exitCode, stderr]).toEqual([0, 'Copied 2 accounts, 3 keys and 1 sessions.\n'])
    }
    const copied = await openShared(url, { signup: 'first', seriesMax: 10 })
    const found = copied.findKey(secret)!
    expect(found).toMatchObject({ write: true, read: true })
    expect(copied.findKey(revoked)).toBeUndefined()
    expect(copied.isOperator(found.account)).toBe(true)
    expect((await copied.notes.find(found.account, 'p')).note).toBe('call ada')
    expect(copied.isOperator((await copied.people.signIn(BOB)).account)).toBe(false)
    expect((await copied.sessions.find(token))?.account).toBe(found.account)
    expect((await copied.keys.list(found.account)).map(({ name }) => name)).toEqual(['revoked', 'first key'])
    expect(copied.signUpOpen()).toBe(false)

    const reset = await person.run(`reset-password --email ${ADA.email} --password-stdin`, {
      stdin: 'a new beginning\n',
      env: { DATA_DIR: dir, DATABASE_URL: url },
    })
    expect(reset.exitCode).toBe(0)
    await copied.people.signIn({ ...ADA, password: 'a new beginning' })
    expect(await copied.sessions.find(token)).toBeUndefined()
    await copied.close()
  })

  test('copies watches, channels with their secrets, alerts and what waits to be delivered; also of a node whose accounts were copied before', async () => {
    const { dir } = await makeSource()
    const accounts = openFresh({ path: join(dir, 'accounts.sqlite') })
    const { account } = await accounts.people.signIn(BOB)
    await accounts.close()
    const other = freshDir()
    mkdirSync(other, { recursive: true })
    const url = await (await sharedPostgres()).createDatabase()
    const fill = async (path: string, n: number) => {
      const store = openStore(path)
      const maintenance = {
        id: `mnt_${n}`,
        account,
        spec: { process: 'db', from: null, to: null, repeat: null },
        createdUs: 1,
      }
      const [watch, channel] = [
        watchOf(`wat_${n}`, { channels: [`cha_${n}`] }, { account }),
        channelOf(`cha_${n}`, { account }),
      ]
      await store.addWatch(watch, 10)
      await store.addChannel(channel, 10)
      await store.addWatch(watchOf(`wat_orphan_${n}`, {}, { account: 'acc_gone' }), 10)
      const alerts = [0, 1].map((i) => alertOf(`ale_${n}_${i}`, watch.id, { account }))
      const opens = alerts.map((alert) => opened(alert, [notificationOf(`msg_${alert.id}`, channel.id, alert.id)]))
      await store.commit(opens, 5)
      await store.noteAlive({ aliveUs: 9, blind: [{ fromUs: 1, toUs: 2 }] })
      await store.commitJudged(judgedOf({ judgedUs: 7, state: [{ account, name: `["job ${n}",""]`, state: '[]' }] }), 9)
      await store.addMaintenance(maintenance, 9)
      const [row] = await dueOf(store, 9, 1)
      const last = { atUs: 6, ok: true, detail: '204' }
      await store.settle([row!], { id: channel.id, last }, 6, 'in incident')
      const rest = { channels: [{ ...channel, last }], maintenances: [maintenance], due: await dueOf(store, 9, 10) }
      const all = { watches: [watch], alerts: await store.alerts(account, { limit: 10 }), ...rest }
      await store.close()
      return all
    }
    const first = await fill(dir, 1)
    const second = await fill(other, 2)
    for (let i = 0; i < 2; i++) {
      const { exitCode, stderr } = await copy(dir, url)
      expect([exitCode, stderr]).toEqual([0, expect.stringContaining('Copied 1 watches, 1 channels and 2 alerts.\n')])
    }
    expect((await copy(other, url)).stderr).toBe('Copied 1 watches, 1 channels and 2 alerts.\n')
    const store = createWatchStore(openPostgres(url, 'watches'))
    expect(await store.watches()).toEqual([...first.watches, ...second.watches])
    expect(await store.channels(account)).toEqual([...first.channels, ...second.channels])
    expect(await store.alerts(account, { limit: 10 })).toEqual([...second.alerts, ...first.alerts])
    expect(await store.maintenances(account)).toEqual([...first.maintenances, ...second.maintenances])
    expect(await store.isStillFiring('cha_1', 'wat_1', [])).toBe(true)
    for (const alert of ['ale_1_0', 'ale_2_0']) expect((await store.notificationsAbout(alert)).sent).toHaveLength(1)
    const withoutSeq = (rows: readonly object[]) => rows.map((row) => ({ ...row, seq: 0 }))
    expect(withoutSeq(await dueOf(store, 9, 10))).toEqual(withoutSeq([...first.due, ...second.due]))
    expect(await store.alive()).toEqual({ aliveUs: 9, blind: [{ fromUs: 1, toUs: 2 }] })
    const { judgedUs, state } = await store.judged()
    expect([judgedUs, state.map(({ name }) => name).sort()]).toEqual([7, ['["job 1",""]', '["job 2",""]']])
    await store.commit([opened(alertOf('ale_new', 'wat_1', { account }), [])], 9) // the numbers go on
    expect((await store.alerts(account, { limit: 1 }))[0]?.id).toBe('ale_new')
    await store.close()
  })

  test('refuses a database with accounts of its own, a directory without accounts, and no DATABASE_URL', async () => {
    const [{ dir }, other] = [await makeSource(), await makeSource()]
    const url = await (await sharedPostgres()).createDatabase()
    expect((await copy(other.dir, url)).exitCode).toBe(0)
    const refused = await copy(dir, url)
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('copy into an empty database')])
    expect((await copy(freshDir(), url)).stderr).toContain('no accounts in')
    expect(await person.run('accounts copy', { env: { DATA_DIR: dir } })).toMatchObject({ exitCode: 2 })
    const away = await copy(dir, 'postgres://stint:secret-word@127.0.0.1:1/stint')
    const said = /^stint: PostgreSQL cannot be used: (?!.*secret-word).*; check DATABASE_URL\n$/
    expect([away.exitCode, away.stderr]).toEqual([1, expect.stringMatching(said)])
  })
})
