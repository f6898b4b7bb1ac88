// Keys and passwords: nothing that Stint writes or answers holds one, and invalid keys take the same time.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { useApp } from '../support/app.ts'
import { engineMissing } from '../support/engine.ts'
import { createStintProcess } from '../support/process.ts'

/** Each is a write to disk; .ci/run asks for a thousand. */
const KEYS = Number(process.env.STINT_TEST_SECRETS ?? 160)
const ACCOUNTS = 8

const json = (body: unknown, headers: Record<string, string> = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})
const cookieOf = (answer: Response) => answer.headers.get('set-cookie')!.split(';')[0]!

test.skipIf(engineMissing !== undefined)(
  'no file, log, metric or answer contains keys, passwords or the set-up code',
  async () => {
    await using stint = createStintProcess({
      SIGNUP: 'open',
      LOG_LEVEL: 'trace',
      SETUP_CODE: 'an-open-sesame-that-is-longer-than-forty-characters',
    })
    const setup_code = 'an-open-sesame-that-is-longer-than-forty-characters'
    const secrets: string[] = [setup_code]
    let seen = ''
    const ask = async (path: string, init?: RequestInit) => {
      const answer = await fetch(stint.url + path, init)
      seen += `${await answer.text()}\n`
      return answer
    }
    await stint.start()
    const useAccount = async (i: number) => {
      const password = `Passw0rd-${crypto.randomUUID()}`
      const wrong = `Wr0ng-${crypto.randomUUID()}`
      const renewed = `Ren3wed-${crypto.randomUUID()}`
      secrets.push(password, wrong, renewed)
      const email = `p${i}@example.com`
      const made = await fetch(`${stint.url}/api/accounts`, json({ email, password, setup_code }))
      const cookie = cookieOf(made)
      secrets.push(((await made.json()) as { key: { secret: string } }).key.secret, cookie.split('=')[1]!)
      await ask('/api/session', json({ email, password: wrong }))
      for (const current_password of [wrong, password])
        await ask('/api/password', json({ current_password, new_password: renewed }, { cookie }))
      await ask('/api/accounts', json({ email, password }))
      await ask('/api/accounts', json({ email: password, password: 'short' }))
      for (let k = 0; k < KEYS / ACCOUNTS; k++) {
        const key = await fetch(
          `${stint.url}/api/keys`,
          json({ name: `key ${k}`, scopes: ['write', 'read'] }, { cookie }),
        )
        const { id, secret } = ((await key.json()) as { key: { id: string; secret: string } }).key
        secrets.push(secret)
        if (k % 5 === 0)
          await ask('/v1/exception', json({ process: 'p', exception: 'x' }, { 'x-stint-api-key': secret }))
        if (k % 10 === 0) {
          await ask('/v1/start', json({ process: 1 }, { 'x-stint-api-key': secret }))
          await ask(`/api/timings?from=${secret}&x=${secret}`, { headers: { 'x-stint-api-key': secret } })
          const rotated = await fetch(`${stint.url}/api/keys/${id}/rotate`, json({ overlap_seconds: 60 }, { cookie }))
          secrets.push(((await rotated.json()) as { key: { secret: string } }).key.secret)
          await ask(`/api/keys/${id}`, { method: 'DELETE', headers: { cookie } })
          await ask('/v1/start', json({ process: 'p' }, { 'x-stint-api-key': secret }))
          await ask(`/${secret}`, {})
        }
      }
      await ask('/api/keys', { headers: { cookie } })
      await ask('/api/sessions', { headers: { cookie } })
    }
    await Promise.all(Array.from({ length: ACCOUNTS }, (_, i) => useAccount(i)))
    await ask('/metrics')
    await ask('/swagger/json')
    await stint.kill()

    await stint.start()
    await stint.terminate()

    const files = [...new Glob('**/*').scanSync({ cwd: stint.dataDir, onlyFiles: true, dot: true })]
    expect(files.length).toBeGreaterThan(5)
    const places = new Map([
      ['answers', seen],
      ['log', stint.log()],
      ...files.map((file) => [file, readFileSync(join(stint.dataDir, file), 'latin1')] as [string, string]),
    ])
    const found = [...places].flatMap(([place, text]) =>
      secrets.filter((secret) => text.includes(secret) || text.includes(secret.slice(20))).map(() => place),
    )
    expect(secrets.length).toBeGreaterThan(KEYS)
    expect([...new Set(found)]).toEqual([])
  },
)

const app = await useApp()

describe('invalid keys', () => {
  test('take about the same time, unknown or revoked', async () => {
    const { owner, revoked } = app.keys
    const unknown = `${owner.slice(0, -8)}00000000`
    const times: Record<string, number[]> = { unknown: [], revoked: [] }
    for (let i = 0; i < 400; i++)
      for (const [name, key] of Object.entries({ unknown, revoked })) {
        const since = performance.now()
        await app.fetch('/v1/start', { method: 'POST', key })
        times[name]!.push(performance.now() - since)
      }
    const [a, b] = Object.values(times).map((list) => list.sort((x, y) => x - y)[list.length >> 1]!) as [number, number]
    expect(Math.max(a, b) / Math.min(a, b)).toBeLessThan(3)
  })
})
