// Keys and passwords: nothing that Stint writes or answers holds one.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { type Answer, createCaller } from '../support/caller.ts'
import { engineMissing } from '../support/engine.ts'
import { createStintProcess } from '../support/process.ts'

const KEYS = 100
const ACCOUNTS = 4

test.skipIf(engineMissing !== undefined)(
  'no file, log, metric or answer contains keys, passwords or the setup code',
  async () => {
    await using stint = createStintProcess({
      SIGNUP: 'open',
      LOG_LEVEL: 'trace',
      SETUP_CODE: 'an-open-sesame-that-is-longer-than-forty-characters',
    })
    const setup_code = 'an-open-sesame-that-is-longer-than-forty-characters'
    const secrets: string[] = [setup_code]
    let seen = ''
    const look = async (answer: Promise<Answer>) => {
      seen += `${(await answer).text}\n`
    }
    await stint.start()
    const nobody = createCaller(stint.url)
    const useAccount = async (i: number) => {
      const password = `Passw0rd-${crypto.randomUUID()}`
      const wrong = `Wr0ng-${crypto.randomUUID()}`
      const renewed = `Ren3wed-${crypto.randomUUID()}`
      secrets.push(password, wrong, renewed)
      const email = `p${i}@example.com`
      const made = await nobody.post('/api/accounts', { email, password, setup_code })
      const cookie = made.headers.get('set-cookie')!.split(';')[0]!
      const session = createCaller(stint.url, { cookie })
      secrets.push(made.json.key.secret, cookie.split('=')[1]!)
      await look(nobody.post('/api/session', { email, password: wrong }))
      for (const current_password of [wrong, password])
        await look(session.post('/api/password', { current_password, new_password: renewed }))
      await look(nobody.post('/api/accounts', { email, password }))
      await look(nobody.post('/api/accounts', { email: password, password: 'short' }))
      for (let k = 0; k < KEYS / ACCOUNTS; k++) {
        const { id, secret } = (await session.post('/api/keys', { name: `key ${k}`, scopes: ['write', 'read'] })).json
          .key
        const { get, post } = createCaller(stint.url, { key: secret })
        secrets.push(secret)
        if (k % 5 === 0) await look(post('/v1/exception', { process: 'p', exception: 'x' }))
        if (k % 10 === 0) {
          await look(post('/v1/start', { process: 1 }))
          await look(get(`/api/timings?from=${secret}&x=${secret}`))
          secrets.push((await session.post(`/api/keys/${id}/rotate`, { overlap_seconds: 60 })).json.key.secret)
          await look(session.delete(`/api/keys/${id}`))
          await look(post('/v1/start', { process: 'p' }))
          await look(nobody.get(`/${secret}`))
        }
      }
      for (const path of ['/api/keys', '/api/sessions']) await look(session.get(path))
    }
    await Promise.all(Array.from({ length: ACCOUNTS }, (_, i) => useAccount(i)))
    for (const path of ['/metrics', '/swagger/json']) await look(nobody.get(path))
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
    expect(Math.min(...secrets.map((secret) => secret.length))).toBeGreaterThan(40) // the end of each is long, too
    const found = [...places].flatMap(([place, text]) =>
      secrets.filter((secret) => text.includes(secret.slice(20))).map(() => place),
    )
    expect(secrets.length).toBeGreaterThan(KEYS)
    expect([...new Set(found)]).toEqual([])
  },
)
