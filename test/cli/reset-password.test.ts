// The one command that works on DATA_DIR itself. With a real server that runs, is stopped and runs again: reset-password.slow.ts.
import { expect, test } from 'bun:test'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { lockDataDir } from '../../src/state/data-dir-lock.ts'
import { ADA, openFresh } from '../account/accounts-cast.ts'
import { tempDir } from '../support/temp-dir.ts'
import { createPerson } from './cli-cast.ts'

async function dirWithAda() {
  const dir = tempDir('reset')
  const accounts = openFresh({ path: join(dir, 'accounts.sqlite') })
  const { key, seat } = await accounts.create(ADA)
  const token = await accounts.sessions.create({ ...seat, userAgent: '' })
  await accounts.close()
  const reset = (email: string, stdin: string, DATA_DIR = dir) =>
    createPerson('http://127.0.0.1:1').run(`reset-password --email ${email} --password-stdin`, {
      stdin,
      env: { DATA_DIR },
    })
  return { dir, key, token, reset }
}

test('the new password works; the old one and all sessions are invalid; keys stay valid', async () => {
  const { dir, key, token, reset } = await dirWithAda()
  const { exitCode, stdout, stderr } = await reset('Ada@example.com', 'a new beginning\n')
  expect(stderr).toBe('Password of Ada@example.com changed; all its sessions are signed out.\n')
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' })
  const accounts = openFresh({ path: join(dir, 'accounts.sqlite') })
  await accounts.people.signIn({ ...ADA, password: 'a new beginning' })
  expect(await accounts.people.signIn(ADA).catch((error) => error.code)).toBe('credentials_invalid')
  expect(await accounts.sessions.find(token)).toBeUndefined()
  expect(accounts.findKey(key.secret)).toBeDefined()
  await accounts.close()
})

test('reports why a reset is impossible and creates nothing', async () => {
  const { dir, reset } = await dirWithAda()
  const unknown = await reset('bob@example.com', 'a new beginning')
  expect(unknown).toEqual({ exitCode: 1, stdout: '', stderr: 'stint: No account has this e-mail address\n' })
  const short = await reset(ADA.email, 'short')
  expect(short).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'stint: The new password cannot be used; it must have at least 8 characters\n',
  })
  const empty = tempDir('reset')
  const nothing = await reset(ADA.email, 'a new beginning', empty)
  expect(nothing.exitCode).toBe(1)
  expect(nothing.stderr).toContain(`no accounts in ${empty}`)
  expect(readdirSync(empty)).toEqual([])
  expect(statSync(join(dir, 'accounts.sqlite')).mode & 0o777).toBe(0o600)
})

test('refuses a directory in use and releases it after each reset, successful or not', async () => {
  const { dir, reset } = await dirWithAda()
  const lock = lockDataDir(dir)
  const { exitCode, stderr } = await reset(ADA.email, 'a new beginning')
  expect(exitCode).toBe(1)
  expect(stderr).toContain(`is in use by another Stint (pid ${process.pid})`)
  lock.release()
  await reset('bob@example.com', 'a new beginning')
  expect((await reset(ADA.email, 'a new beginning')).exitCode).toBe(0)
  lockDataDir(dir).release()
})
