// Events that a store never takes, among 5,000 that it does; points that are too old for their bucket; and schemas that someone else broke. Through the
// real process, real stores, /api/dead and the command line.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { DeadLetter } from '../../src/wire/dead-letters.ts'
import type { MetricPoint } from '../../src/wire/metrics.ts'
import type { Timing } from '../../src/wire/timings.ts'
import { createPerson } from '../cli/cli-cast.ts'
import { type SignedUp, signUpAt } from '../support/caller.ts'
import { writeBacklog } from '../support/fault-backlog.ts'
import { type FaultStores, startFaultStores } from '../support/fault-stores.ts'
import { figure, lacks } from '../support/fault-trial.ts'
import { readAll, untilShipped, WIDE } from '../support/oracle.ts'
import { type Caller, createStintProcess, type StintProcess } from '../support/process.ts'
import { until } from '../support/until.ts'

const OPERATOR = 'operator@example.com'
const WITHIN_MS = 120_000
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

describe.skipIf(lacks('chdb', 'influxd'))('poison', () => {
  let stores: FaultStores
  let stint: StintProcess
  let operator: SignedUp
  beforeAll(async () => {
    stores = await startFaultStores({ retentionSeconds: (3 * DAY_MS) / 1000, shardSeconds: HOUR_MS / 1000 })
    stint = createStintProcess({ ...stores.settings, SIGNUP: 'open', SERIES_MAX: '0' })
    await stint.start()
    operator = await signUpAt(stint.url, OPERATOR)
  })
  afterAll(async () => {
    await stint?.close()
    await stores?.close()
  })

  /**
   * Puts starts into the spool as a Stint would that let pass what this one strips: a process that ends in a backslash, which is no line protocol.
   * It is stopped meanwhile.
   */
  async function spool(
    caller: Caller,
    count: number,
    isPoison: (i: number) => boolean,
    records: readonly string[] = [],
  ): Promise<void> {
    expect(await stint.terminate()).toBe(0)
    const us = Date.now() * 1000 - count
    await writeBacklog(stint.dataDir, 'points', count, (i) => ({
      kind: 'start',
      account: caller.account,
      process: isPoison(i) ? 'ends in \\' : 'good',
      meta: '',
      uid: `u-${i}`,
      stamp: { us: us + i, sub: 0 },
    }))
    await writeBacklog(stint.dataDir, 'points', records.length, (i) => records[i]!)
    await stint.start()
  }

  /** Only a deletion without a predicate makes InfluxDB forget the type of a field. */
  const emptyShard = (hour: Date) => {
    const range = { start: hour.toISOString(), stop: new Date(hour.getTime() + HOUR_MS).toISOString() }
    return stores.influxApi('POST', '/api/v2/delete?org=faults&bucket=faults', JSON.stringify(range))
  }

  const bySession = {
    get: (path: string) => fetch(stint.url + path, { headers: { cookie: operator.cookie } }),
  }
  const asOperator = (method: string, path: string, body?: object) =>
    fetch(stint.url + path, {
      method,
      headers: { cookie: operator.cookie, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })

  const readTimings = (caller: Caller) => readAll<Timing>(caller, `/api/timings?${WIDE}`, 'timings')
  const readDead = (caller: Caller) => readAll<DeadLetter>(caller, '/api/dead?', 'dead')

  test('is listed, shown, replayed and dropped from the command line; replayed poison becomes a dead letter again', async () => {
    const caller = await stint.signUp('shell@example.com')
    await spool(caller, 10, (i) => i % 5 === 0)
    await untilShipped(stint.url, WITHIN_MS)
    const person = createPerson(stint.url)
    const run = (...words: string[]) => person.run(['dead', ...words], { env: { STINT_API_KEY: caller.secret } })
    const [newest, oldest] = (await readDead(caller)).map(({ id }) => id)

    const listed = await run('list')
    expect(listed).toMatchObject({ exitCode: 0 })
    for (const id of [newest!, oldest!]) expect(listed.stdout).toContain(id)
    const shown = await run('show', newest!)
    expect(shown).toMatchObject({ exitCode: 0 })
    expect(shown.stdout).toContain('ends in')

    expect(await run('replay', newest!)).toMatchObject({ exitCode: 0 })
    await until('it is refused again', async () =>
      (await readDead(caller)).some(({ id }) => Number(id) > Number(newest)),
    )
    expect(await run('drop', '--all', '--yes')).toMatchObject({ exitCode: 0 })
    expect(await readDead(caller)).toEqual([])
    expect(await readTimings(caller)).toHaveLength(8)
  })

  test('of another account and of an unknown kind are listed, replayed and removed by the operator', async () => {
    const caller = await stint.signUp('other@example.com')
    await spool(caller, 4, (i) => i < 2, ['["of a later version",1]'])
    await untilShipped(stint.url, WITHIN_MS)
    const list = async () => {
      const letters = await readAll<DeadLetter>(bySession, '/api/dead?all=true', 'dead')
      return letters.filter(({ account }) => account === caller.account || account === '')
    }

    expect((await caller.get('/api/dead?all=true')).status).toBe(403)
    const letters = await list()
    expect(letters.map(({ account, reason }) => (account === '' ? reason : account)).sort()).toEqual(
      [caller.account, caller.account, 'unreadable record'].sort(),
    )
    const [one, other] = letters.filter(({ account }) => account !== '').map(({ id }) => id)
    const unknown = letters.find(({ account }) => account === '')!.id
    expect((await asOperator('DELETE', `/api/dead/${unknown}`)).status).toBe(404) // not the operator's own
    expect((await asOperator('DELETE', `/api/dead/${unknown}?all=true`)).status).toBe(204)
    for (const id of [one, other])
      expect((await asOperator('POST', `/api/dead/${id}/replay?all=true`)).status).toBe(204)
    await until('both are refused again', async () => {
      const ids = (await list()).map(({ id }) => id)
      return ids.length === 2 && !ids.includes(one!) && !ids.includes(other!)
    })
    for (const { id } of await list()) expect((await asOperator('DELETE', `/api/dead/${id}?all=true`)).status).toBe(204)
    expect(await list()).toEqual([])
    expect(await readTimings(caller)).toHaveLength(2)
  })

  test('a field type conflict in an old shard parks the points until the repair, and all arrive once', async () => {
    const callers = [await stint.signUp('ada@example.com'), await stint.signUp('grace@example.com')] as const
    const [ada] = callers
    const hour = new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 9 * HOUR_MS)
    const send = async (caller: Caller, n: number, at?: string) =>
      expect((await caller.post('/v1/metrics', { process: 'p', items: { n }, ...(at && { at }) })).status).toBe(201)
    const read = async (caller: Caller) =>
      (await readAll<MetricPoint>(caller, '/api/metrics?from=-12h', 'points'))
        .map(({ value }) => value)
        .sort((a, b) => a - b)
    const health = async () =>
      (await (await bySession.get('/api/health')).json()) as {
        destinations: { points: { state: string; reason?: string } }
      }
    const taken = `metric,account=someone value="str" ${hour.getTime()}000000`
    await stores.influxApi('POST', '/api/v2/write?org=faults&bucket=faults&precision=ns', taken)
    const deadBefore = await figure(stint, 'stint_dead_letters')

    const old = (i: number) => new Date(hour.getTime() + 60_000 + i).toISOString()
    await send(ada, 1, old(1)) // alone in its batch
    const parked = async () => (await figure(stint, 'stint_destination_parked', 'points')) === 1
    await until('parked', parked, WITHIN_MS)
    for (const caller of callers) for (let i = 10; i < 30; i++) await send(caller, i)
    await send(ada, 2, old(2))
    await send(ada, 3, new Date(hour.getTime() - HOUR_MS).toISOString()) // another shard
    const today = Array.from({ length: 20 }, (_, i) => 10 + i)
    expect((await health()).destinations.points).toMatchObject({
      state: 'parked',
      reason: expect.stringMatching(
        new RegExp(
          `^the store takes no metrics of the hour ${hour.toISOString().slice(0, 13)}:00Z: .*field type conflict`,
        ),
      ),
    })

    await stint.kill() // what is refused is in the spool
    await stint.start()
    await until('parked again', parked, WITHIN_MS)
    await emptyShard(hour)
    await untilShipped(stint.url, WITHIN_MS)
    expect(await read(ada)).toEqual([1, 2, 3, ...today])
    expect(await read(callers[1])).toEqual(today)
    expect(await figure(stint, 'stint_dead_letters')).toBe(deadBefore!)
    await until('no longer parked', async () => (await figure(stint, 'stint_destination_parked', 'points')) === 0)
  })

  test('what the store refuses is buried by the operator, and arrives once when it is replayed after the repair', async () => {
    const caller = await stint.signUp('buried@example.com')
    const hour = new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 12 * HOUR_MS)
    const taken = `metric,account=someone value="str" ${hour.getTime()}000000`
    await stores.influxApi('POST', '/api/v2/write?org=faults&bucket=faults&precision=ns', taken)
    const at = new Date(hour.getTime() + 60_000).toISOString()
    for (const n of [1, 2])
      expect((await caller.post('/v1/metrics', { process: 'p', items: { n }, at })).status).toBe(201)
    await until('parked', async () => (await figure(stint, 'stint_destination_parked', 'points')) === 1, WITHIN_MS)
    const buried = await asOperator('POST', '/api/dead/held', { reason: 'the shard is not ours' })
    expect([buried.status, await buried.json()]).toEqual([202, { families: ['metrics'] }])
    await until('buried', async () => (await readDead(caller)).length === 2, WITHIN_MS)
    const dead = await readDead(caller)
    expect(dead.map(({ reason }) => reason)).toEqual(Array(2).fill('the shard is not ours'))
    await untilShipped(stint.url, WITHIN_MS)

    await emptyShard(hour)
    for (const { id } of dead) expect((await asOperator('POST', `/api/dead/${id}/replay?all=true`)).status).toBe(204)
    await untilShipped(stint.url, WITHIN_MS)
    const points = await readAll<MetricPoint>(caller, '/api/metrics?from=-24h', 'points')
    expect(points.map(({ value }) => value).sort()).toEqual([1, 2])
    expect(await readDead(caller)).toEqual([])
  })
})
