// `stint accounts copy`: everything of accounts.sqlite works from PostgreSQL, and nothing is mixed with other accounts.
import { describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openSharedAccounts } from '../../../src/account/shared/open-shared-accounts.ts'
import { createPerson } from '../../cli/cli-cast.ts'
import { missing } from '../../support/needs.ts'
import { sharedPostgres } from '../../support/postgres.ts'
import { ADA, BOB, createManualClock, freshDir, openFresh, silentLog } from '../accounts-cast.ts'

describe.skipIf(missing('postgresql') !== undefined)('stint accounts copy', () => {
  const person = createPerson('http://127.0.0.1:1')
  const copy = (DATA_DIR: string, DATABASE_URL: string) =>
    person.run('accounts copy', { env: { DATA_DIR, DATABASE_URL } })
  const openCopy = (url: string) =>
    openSharedAccounts({
      url,
      replicaPath: join(freshDir(), 'known-keys.sqlite'),
      clock: createManualClock(),
      log: silentLog,
      signup: 'first',
      seriesMax: 10,
    })

  async function makeSource(): Promise<{ dir: string; secret: string; revoked: string; token: string }> {
    const dir = freshDir()
    mkdirSync(dir, { recursive: true })
    const source = openFresh({ path: join(dir, 'accounts.sqlite'), seriesMax: 10 })
    const { account, key } = await source.create(ADA)
    await source.create(BOB)
    const revoked = await source.keys.create(account.id, 'revoked', ['read', 'manage'])
    await source.keys.revoke(account.id, revoked.id)
    const token = await source.sessions.create(account.id, 'browser')
    source.series.admit(account.id, 'p', '', ['a', 'b'])
    await source.close()
    return { dir, secret: key.secret, revoked: revoked.secret, token }
  }

  test('copies accounts, keys, sessions and series, and can be repeated', async () => {
    const { dir, secret, revoked, token } = await makeSource()
    const url = await (await sharedPostgres()).createDatabase()
    for (let i = 0; i < 2; i++) {
      const { exitCode, stderr } = await copy(dir, url)
      expect([exitCode, stderr]).toEqual([0, 'Copied 2 accounts, 3 keys, 1 sessions and 2 series.\n'])
    }
    const copied = await openCopy(url)
    const found = copied.findKey(secret)!
    expect(found).toMatchObject({ write: true, read: true })
    expect(copied.findKey(revoked)).toBeUndefined()
    expect(copied.isOperator(found.account)).toBe(true)
    expect((await copied.signIn(BOB)).operator).toBe(false)
    expect((await copied.sessions.find(token))?.account).toBe(found.account)
    expect((await copied.keys.list(found.account)).map(({ name }) => name)).toEqual(['revoked', 'first key'])
    expect(copied.signUpOpen()).toBe(false)

    const reset = await person.run(`reset-password --email ${ADA.email} --password-stdin`, {
      stdin: 'a new beginning\n',
      env: { DATA_DIR: dir, DATABASE_URL: url },
    })
    expect(reset.exitCode).toBe(0)
    await copied.signIn({ ...ADA, password: 'a new beginning' })
    expect(await copied.sessions.find(token)).toBeUndefined()
    await copied.close()
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
    expect([away.exitCode, away.stderr.includes('secret-word')]).toEqual([1, false])
  })
})
