// The configurations of the page "Behind a balancer" in the real HAProxy and the real nginx: two nodes are restarted one after
// the other under load, and no call fails.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCaller, PASSWORD } from '../support/caller.ts'
import { missing } from '../support/needs.ts'
import { takePort } from '../support/ports.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { type Caller, callerOf, createStintProcess, STORES_AWAY, type StintProcess } from '../support/process.ts'
import { readRepo } from '../support/readme.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const PAGE = readRepo('src/deploy/balancer.md')
const CLIENTS = 8
const SETUP_CODE = 'a setup code'

/** The only block of a language on the page. */
const blockOf = (language: string) => new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(PAGE)![1]!

describe.skipIf(missing('postgresql') !== undefined)('a rolling restart', () => {
  let postgres: PostgresServer
  let nodes: readonly StintProcess[]
  let ada: Caller

  beforeAll(async () => {
    postgres = await startPostgres()
    const settings = {
      ...STORES_AWAY,
      DATABASE_URL: await postgres.createDatabase(),
      TRUST_PROXY: '1',
      STOP_DELAY: '5s',
    }
    nodes = ['0', '1'].map((id) => createStintProcess({ ...settings, NODE_ID: id, SETUP_CODE }))
    for (const node of nodes) await node.start()
    const person = { email: 'ada@example.com', password: PASSWORD, setup_code: SETUP_CODE }
    const { status, json } = await createCaller(nodes[0]!.url).post('/api/accounts', person)
    expect(status).toBe(201)
    ada = callerOf(nodes[0]!.url, { account: json.account.id, keyId: json.key.id, secret: json.key.secret })
    await until('both know the key', async () => (await callerOf(nodes[1]!.url, ada).get('/api/health')).ok)
  })
  afterAll(async () => {
    await Promise.all((nodes ?? []).map((node) => node.close()))
    await postgres?.close()
  })

  async function failsNothing(command: readonly string[], port: number): Promise<void> {
    const balancer = Bun.spawn([...command], { stdout: 'ignore', stderr: 'pipe' })
    const url = `http://127.0.0.1:${port}`
    try {
      const caller = callerOf(url, ada)
      await until(
        'the balancer forwards',
        async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok === true,
      )
      const statuses = new Map<string, number>()
      let isOver = false
      const clients = Array.from({ length: CLIENTS }, async (_, i) => {
        for (let n = 0; !isOver; n++) {
          const body = { process: 'p', uid: `${i}-${n}` }
          const status = await caller.post('/v1/start', body).then(
            ({ status }) => String(status),
            (error: Error) => error.message,
          )
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
        }
      })
      const taken = () => statuses.get('201') ?? 0
      await until('calls through the balancer', () => taken() > 100)
      for (const node of nodes) {
        expect(await node.terminate()).toBe(0)
        await node.start()
        const before = taken()
        await until('calls through the balancer', () => taken() > before + 100)
      }
      isOver = true
      await Promise.all(clients)
      expect(Object.fromEntries(statuses)).toEqual({ '201': expect.any(Number) })
    } finally {
      balancer.kill()
      await balancer.exited
    }
  }

  const toNodes = (config: string, port: number) =>
    config
      .replace('10.0.0.10:7070', new URL(nodes[0]!.url).host)
      .replace('10.0.0.11:7070', new URL(nodes[1]!.url).host)
      .replace(/8080/, String(port))

  test.skipIf(missing('haproxy') !== undefined)(
    'behind HAProxy fails no call',
    async () => {
      const [dir, port] = [tempDir('haproxy'), takePort()]
      writeFileSync(join(dir, 'haproxy.cfg'), toNodes(blockOf('haproxy'), port))
      await failsNothing(['haproxy', '-db', '-f', join(dir, 'haproxy.cfg')], port)
    },
    120_000,
  )

  test.skipIf(missing('nginx') !== undefined)(
    'behind nginx fails no call',
    async () => {
      const [dir, port] = [tempDir('nginx'), takePort()]
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${dir}/${name};`,
      )
      writeFileSync(
        join(dir, 'nginx.conf'),
        `daemon off; pid ${dir}/pid; error_log ${dir}/error; events {}
      http { access_log off; ${temporary.join(' ')} ${toNodes(blockOf('nginx'), port)} }`,
      )
      await failsNothing(['nginx', '-e', join(dir, 'error'), '-c', join(dir, 'nginx.conf')], port)
    },
    120_000,
  )
})

test('after SIGTERM a node is unready and takes calls until STOP_DELAY is over', async () => {
  await using stint = createStintProcess({ ...STORES_AWAY, STOP_DELAY: '3s' })
  await stint.start()
  const caller = await stint.signUp('ada@example.com')
  const since = performance.now()
  const stopped = stint.terminate()
  await until('unready', async () => (await fetch(`${stint.url}/readyz`)).status === 503)
  expect(await (await fetch(`${stint.url}/readyz`)).json()).toMatchObject({ code: 'stopping' })
  expect((await caller.post('/v1/start', { process: 'p' })).status).toBe(201)
  expect(await stopped).toBe(0)
  expect(performance.now() - since).toBeGreaterThan(2900)
}, 30_000)
