// POST /api/watches/preview of the real process over each kind of store: what a watch would have fired on the stored history.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createCaller, faultsOf, type SignedUp, signUpAt } from '../support/caller.ts'
import { WITHIN_MS } from '../support/fault-trial.ts'
import { influxd, influxdMissing, influxSettings } from '../support/influxd.ts'
import { missing } from '../support/needs.ts'
import { untilShipped } from '../support/oracle.ts'
import { createStintProcess, type Env } from '../support/process.ts'

const HOUR_MS = 3_600_000
const MARKS_MAX = 50_000
const BATCH = 1_000

const STORES = [
  { name: 'the embedded engine', env: async (): Promise<Env> => ({}), reason: missing('chdb'), isFirst: true },
  {
    name: 'InfluxDB',
    env: async () => influxSettings(await (await influxd()).freshBucket()),
    reason: missing('chdb') ?? influxdMissing,
    isFirst: false,
  },
]

describe.each(STORES)('over $name', ({ env, reason, isFirst }) => {
  if (reason !== undefined) {
    test.skip('a preview', () => {})
    return
  }
  let stint: ReturnType<typeof createStintProcess>
  let person: SignedUp
  const bornMs = Math.floor(Date.now() / 60_000) * 60_000
  const at = (hoursAgo: number) => new Date(bornMs - hoursAgo * HOUR_MS).toISOString()
  const preview = (body: object) => person.bySession.post('/api/watches/preview', body)
  const send = async (events: readonly object[]) => {
    for (let i = 0; i < events.length; i += BATCH)
      expect((await person.byKey.post('/v1/batch', events.slice(i, i + BATCH))).status).toBe(201)
  }

  beforeAll(async () => {
    stint = createStintProcess({ ...(await env()), MAX_AGE: '30d' })
    await stint.start()
    person = await signUpAt(stint.url)
    const run = (process: string, hoursAgo: number, failed = false) => [
      { kind: 'start', process, uid: `${hoursAgo}`, at: at(hoursAgo) },
      { kind: 'end', process, uid: `${hoursAgo}`, at: at(hoursAgo - 0.25), ...(failed && { failed }) },
    ]
    await send([
      ...[50, 49, 48, 40, 39, 1].flatMap((ago) => run('hourly', ago, ago === 48)),
      { kind: 'metrics', process: 'hourly', items: { rows: 0, other: 9 }, at: at(30) },
      { kind: 'metrics', process: 'hourly', items: { rows: 7 }, at: at(29) },
      { kind: 'exception', process: 'hourly', exception: 'ValueError: no rows', at: at(20) },
      ...[3, 2].flatMap((ago) => run('job a', ago, true)),
      ...[3, 2].flatMap((ago) => run('job b', ago)),
      ...Array.from({ length: isFirst ? MARKS_MAX + 10 : 0 }, (_, i) => ({
        ...{ kind: 'start', process: 'busy', at: new Date(bornMs - HOUR_MS - i * 500).toISOString() },
      })),
    ])
    await untilShipped(stint.url, WITHIN_MS)
  }, WITHIN_MS)
  afterAll(() => stint?.close())

  test('every condition is judged over its own events, newest first', async () => {
    const { status, json } = await preview({
      process: 'hourly',
      late: { every: '1h', grace: '30m' },
      long: '10m',
      failed: { exceptions: true },
      metric: { name: 'rows', window: '1h', of: 'last', below: 1 },
    })
    expect(status).toBe(200)
    expect(json).toMatchObject({ from: at(50), marks: 12, points: 2, exceptions: 1, truncated: false })
    const alerts = json.alerts.map((it: { condition: string; since: string; resolved_at: string | null }) => [
      it.condition,
      it.since,
      it.resolved_at,
    ])
    const long = (ago: number) => ['long', at(ago - 1 / 6), at(ago - 0.25)]
    expect(alerts).toEqual(
      [
        long(1),
        ['failed', at(20), at(0.75)],
        ['metric', at(30), at(29)],
        ['late', at(37.5), at(1)],
        long(39),
        long(40),
        ['failed', at(47.75), at(39.75)],
        ['late', at(46.5), at(40)],
        long(48),
        long(49),
        long(50),
      ].toSorted(([, a], [, b]) => (a! < b! ? 1 : -1)),
    )
    expect(json.total).toBe(11)
    const { summary } = json.alerts.find(({ since }: { since: string }) => since === at(47.75))
    expect(summary).toMatch(/^hourly failed at [^;]+ UTC; hourly completed at [^;]+ UTC, after 8 h of failure$/)
  })

  test('a pattern covers its processes, each by itself', async () => {
    const { json } = await preview({ process: 'job *', failed: { after: 2 } })
    expect(json).toMatchObject({ marks: 8, total: 1, alerts: [{ process: 'job a', condition: 'failed' }] })
  })

  if (!isFirst) return // the rest does not depend on the store

  test('the body of a watch that is made is a body of its preview', async () => {
    const conditions = { process: 'hourly', failed: {} }
    const whole = await preview({
      ...conditions,
      name: 'a watch',
      channels: ['cha_none'],
      remind: '24h',
      paused_until: null,
    })
    expect(whole.json.alerts).toEqual((await preview(conditions)).json.alerts)
    expect(whole.json.total).toBe(1)
  })

  test('without stored events nothing would have fired', async () => {
    const { json } = await preview({ process: 'unheard of', late: { every: '1h' } })
    expect(json).toMatchObject({ marks: 0, total: 0, alerts: [], from: json.to })
  })

  test('of a busy process the newest 50,000 marks are judged, and the answer says since when', async () => {
    const { json } = await preview({ process: 'busy', late: { every: '10m' } })
    expect(json).toMatchObject({ marks: MARKS_MAX, truncated: true, total: 1, alerts: [{ resolved_at: null }] })
    expect(json.from).toBe(new Date(bornMs - HOUR_MS - (MARKS_MAX - 1) * 500).toISOString())
  })

  test('invalid conditions are refused as for a watch, and a key needs the scope `manage`', async () => {
    const late = { cron: '0 3 * *' }
    const [previewed, made] = [
      await preview({ process: 'hourly', late }),
      await person.bySession.post('/api/watches', { name: 'w', process: 'hourly', channels: [], late }),
    ]
    expect(faultsOf(previewed)).toEqual([422, 'fields_invalid', '/late/cron'])
    expect(previewed.json).toEqual({ ...made.json, request_id: previewed.json.request_id })
    expect(faultsOf(await preview({ process: 'hourly' }))).toEqual([422, 'fields_invalid', ''])
    expect(faultsOf(await preview({ process: 'hourly', mood: 1, failed: {} }))).toEqual([
      422,
      'fields_invalid',
      '/mood',
    ])
    const stranger = createCaller(stint.url, { key: person.secret })
    expect((await stranger.post('/api/watches/preview', { process: 'hourly', failed: {} })).status).toBe(403)
  })
})
