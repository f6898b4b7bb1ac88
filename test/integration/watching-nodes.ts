// Two nodes with their watches in PostgreSQL: real processes, and a real receiver that counts what arrives.
import { afterAll, beforeAll, expect } from 'bun:test'
import { createCaller, signUpAt } from '../support/caller.ts'
import { createClickHouse } from '../support/clickhouse-process.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { type Caller, callerOf, createStintProcess, type StintProcess } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

export const WITHIN_MS = 90_000
const BEGINS = 'this node judges the watches'

interface Received {
  readonly id: string
  readonly type: string
  readonly process: string
  readonly condition: string
}

/** For all tests of the suite that calls it. */
export function useWatchingNodes() {
  const cast = {
    /** The receiver's answers wait for this. */
    gate: Promise.resolve(),
  } as { a: StintProcess; b: StintProcess; ada: Caller; postgres: PostgresServer; gate: Promise<void> }
  const received: Received[] = []
  const receiver = startReceiver(async ({ headers, text }) => {
    const { type, data } = JSON.parse(text)
    received.push({ id: headers.get('webhook-id')!, type, process: data.process, condition: data.condition })
    await cast.gate
    return new Response('taken')
  })
  const clickhouse = createClickHouse('shared_watches')
  let cookie = ''
  let channel = ''

  const ask = ({ url }: StintProcess, method: string, path: string, body?: unknown) =>
    createCaller(url, { cookie }).call(method, path, body)
  const watch = async (node: StintProcess, process: string, conditions: object) => {
    const made = await ask(node, 'POST', '/api/watches', {
      name: process,
      process,
      channels: [channel],
      ...conditions,
    })
    expect(made.status).toBe(201)
    return made.json.watch.id as string
  }
  const send = async (node: StintProcess, path: string, body: object) =>
    expect((await callerOf(node.url, cast.ada).post(`/v1/${path}`, body)).status).toBe(201)
  const runOnce = async (node: StintProcess, process: string, failed: boolean) => {
    await send(node, 'start', { process })
    await send(node, 'end', { process, ...(failed && { failed }) })
  }
  const got = (type: string, process: string) => received.filter((it) => it.type === type && it.process === process)
  const gets = (type: string, process: string) =>
    until(`${type} of ${process}`, () => got(type, process).length > 0, WITHIN_MS)
  const terms = (node: StintProcess) => node.log().split(BEGINS).length - 1
  const stateOf = async (node: StintProcess, id: string) =>
    (await ask(node, 'GET', `/api/watches/${id}`)).json.watch.state as string
  /** The gauge of firing alerts is zero at every other node. */
  const isOnDuty = async ({ url }: StintProcess) =>
    /^stint_alerts_firing [1-9]/m.test(await (await fetch(`${url}/metrics`)).text())

  beforeAll(async () => {
    cast.postgres = await startPostgres()
    await clickhouse.start()
    const settings = {
      ...{ DATABASE_URL: await cast.postgres.createDatabase(), NOTIFY_PRIVATE: 'true' },
      PUBLIC_URL: 'http://stint.test', // one name of the session's cookie at both
      ...clickhouse.settings,
    }
    cast.a = createStintProcess({ ...settings, NODE_ID: '1' })
    cast.b = createStintProcess({ ...settings, NODE_ID: '2' })
    await cast.a.start()
    await until('the first node judges', () => terms(cast.a) === 1)
    await cast.b.start()
    const signedUp = await signUpAt(cast.a.url)
    cast.ada = callerOf(cast.a.url, signedUp)
    cookie = signedUp.cookie
    const hook = { name: 'hook', kind: 'webhook', url: `${receiver.url}/` }
    channel = (await ask(cast.b, 'POST', '/api/channels', hook)).json.channel.id
    await until('both know the key', async () => (await callerOf(cast.b.url, cast.ada).get('/api/health')).ok)
  })
  afterAll(async () => {
    await Promise.all([cast.a?.close(), cast.b?.close(), clickhouse.kill(), receiver.close()])
    await cast.postgres?.close()
  })
  return { cast, received, ask, watch, runOnce, got, gets, terms, stateOf, isOnDuty }
}
