// Keys and passwords: nothing that Stint writes or answers holds one; every invalid key gets the same answer; and a key that has ended fails
// at once, also on connections that are open, under load and after a restart.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { useApp } from '../support/app.ts'
import { engineMissing } from '../support/engine.ts'
import { createStintProcess } from '../support/process.ts'
import { openRaw } from '../support/raw-http.ts'

/** Each is a write to disk; .ci/run asks for a thousand. */
const KEYS = Number(process.env.STINT_TEST_SECRETS ?? 160)
const ACCOUNTS = 8
const FAILS_WITHIN_MS = 1000

const json = (body: unknown, headers: Record<string, string> = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})
const cookieOf = (answer: Response) => answer.headers.get('set-cookie')!.split(';')[0]!

test.skipIf(engineMissing !== undefined)('no file, log, metric or answer contains keys or passwords', async () => {
  await using stint = createStintProcess({ SIGNUP: 'open', LOG_LEVEL: 'trace' })
  const secrets: string[] = []
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
    secrets.push(password, wrong)
    const email = `p${i}@example.com`
    const made = await fetch(`${stint.url}/api/accounts`, json({ email, password }))
    const cookie = cookieOf(made)
    secrets.push(((await made.json()) as { key: { secret: string } }).key.secret, cookie.split('=')[1]!)
    await ask('/api/session', json({ email, password: wrong }))
    await ask('/api/password', json({ current_password: wrong, new_password: password }, { cookie }))
    await ask('/api/accounts', json({ email, password }))
    await ask('/api/accounts', json({ email: password, password: 'short' }))
    for (let k = 0; k < KEYS / ACCOUNTS; k++) {
      const key = await fetch(
        `${stint.url}/api/keys`,
        json({ name: `key ${k}`, scopes: ['write', 'read'] }, { cookie }),
      )
      const { id, secret } = ((await key.json()) as { key: { id: string; secret: string } }).key
      secrets.push(secret)
      if (k % 5 === 0) await ask('/v1/exception', json({ process: 'p', exception: 'x' }, { 'x-stint-api-key': secret }))
      if (k % 10 === 0) {
        await ask('/v1/start', json({ process: 1 }, { 'x-stint-api-key': secret }))
        await ask(`/api/timings?from=${secret}&x=${secret}`, { headers: { 'x-stint-api-key': secret } })
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
})

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

  test('passwords: an unknown address takes as long as a wrong password', async () => {
    const times: number[] = []
    for (const email of ['ada@example.com', 'nobody@example.com', 'ada@example.com', 'nobody@example.com']) {
      const since = performance.now()
      const answer = await app.fetch('/api/session', json({ email, password: 'a wrong password of some length' }))
      times.push(performance.now() - since)
      expect(answer.json).toMatchObject({ code: 'credentials_invalid' })
    }
    const known = Math.min(times[0]!, times[2]!)
    const unknown = Math.min(times[1]!, times[3]!)
    expect(unknown).toBeGreaterThan(known / 4)
  })
})

test.skipIf(engineMissing !== undefined)(
  'an expired key fails within a second on open connections, under load, and after a restart',
  async () => {
    await using stint = createStintProcess()
    await stint.start()
    const made = await fetch(
      `${stint.url}/api/accounts`,
      json({ email: 'ada@example.com', password: 'a long enough password' }),
    )
    const cookie = cookieOf(made)
    const makeKey = async () => {
      const answer = await fetch(`${stint.url}/api/keys`, json({ name: 'k', scopes: ['write'] }, { cookie }))
      return ((await answer.json()) as { key: { id: string; secret: string } }).key
    }
    const [kept, revoked, rotated] = [await makeKey(), await makeKey(), await makeKey()]
    const port = Number(new URL(stint.url).port)
    const body = '{"process":"p"}'
    const send = (secret: string) =>
      `POST /v1/start HTTP/1.1\r\nHost: localhost\r\nx-stint-api-key: ${secret}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`

    /** Sends on one connection until told to stop; when each answer came and what it was. */
    const isOver = { now: false }
    const load = async (secret: string) => {
      const connection = await openRaw(port)
      const answers: { atMs: number; status: number }[] = []
      while (!isOver.now) {
        await connection.write(send(secret))
        const { status } = await connection.answer()
        answers.push({ atMs: performance.now(), status })
      }
      connection.close()
      return answers
    }
    const loads = [kept, revoked, rotated].map(({ secret }) =>
      Promise.all(Array.from({ length: 4 }, () => load(secret))),
    )
    const loadFor = async (ms: number) => {
      const end = performance.now() + ms
      while (performance.now() < end) await fetch(`${stint.url}/livez`)
    }
    await loadFor(300)
    expect((await fetch(`${stint.url}/api/keys/${revoked.id}`, { method: 'DELETE', headers: { cookie } })).status).toBe(
      204,
    )
    const replaced = await fetch(`${stint.url}/api/keys/${rotated.id}/rotate`, {
      method: 'POST',
      headers: { cookie },
    })
    const successor = ((await replaced.json()) as { key: { secret: string } }).key.secret
    const endedMs = performance.now()
    await loadFor(FAILS_WITHIN_MS + 300)
    isOver.now = true
    const [good, ...ended] = (await Promise.all(loads)).map((connections) => connections.flat())
    expect(good!.every(({ status }) => status === 201)).toBe(true)
    for (const answers of ended) {
      expect(answers.some(({ atMs, status }) => atMs < endedMs && status === 201)).toBe(true)
      const late = answers.filter(({ atMs }) => atMs > endedMs + FAILS_WITHIN_MS)
      expect(late.length).toBeGreaterThan(0)
      expect(late.every(({ status }) => status === 401)).toBe(true)
    }

    const statuses = async () =>
      Promise.all(
        [kept.secret, successor, revoked.secret, rotated.secret].map(
          async (secret) =>
            (await fetch(`${stint.url}/v1/start`, json({ process: 'p' }, { 'x-stint-api-key': secret }))).status,
        ),
      )
    expect(await statuses()).toEqual([201, 201, 401, 401])
    await stint.kill()
    await stint.start()
    expect(await statuses()).toEqual([201, 201, 401, 401])
  },
)
