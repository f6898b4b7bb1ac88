// POST /api/watches/preview: what a watch would have fired on the stored history. How stores read it: contract/source.ts.
import { expect, test } from 'bun:test'
import type { Event } from '../../src/event/event.ts'
import { parseStampNs } from '../../src/event/stamp.ts'
import { useApp } from '../support/app.ts'
import { createCaller, faultsOf, signInAt } from '../support/caller.ts'

const HOUR_MS = 3_600_000
const MARKS_MAX = 50_000

const stored: Event[] = []
const app = await useApp({ stored })
const session = await signInAt(app.url)
const bornMs = Math.floor(app.clock.wallUs() / 60_000_000) * 60_000
const at = (hoursAgo: number) => new Date(bornMs - hoursAgo * HOUR_MS).toISOString()
const preview = (body: object) => session.post('/api/watches/preview', body)

function add(process: string, hoursAgo: number, rest: object): void {
  const stamp = parseStampNs(BigInt(bornMs - hoursAgo * HOUR_MS) * 1_000_000n)
  stored.push({ account: app.account, process, meta: '', uid: '', stamp, ...rest } as Event)
}
function run(process: string, hoursAgo: number, failed = false): void {
  add(process, hoursAgo, { kind: 'start', uid: `${hoursAgo}` })
  add(process, hoursAgo - 0.25, { kind: 'end', uid: `${hoursAgo}`, ...(failed && { failed }) })
}
for (const ago of [50, 49, 48, 40, 39, 1]) run('hourly', ago, ago === 48)
add('hourly', 30, {
  kind: 'metrics',
  items: [
    ['rows', 0],
    ['other', 9],
  ],
})
add('hourly', 29, { kind: 'metrics', items: [['rows', 7]] })
add('hourly', 20, { kind: 'exception', exception: 'ValueError: no rows' })
for (const ago of [3, 2]) {
  run('job a', ago, true)
  run('job b', ago)
}
for (let i = 0; i < MARKS_MAX + 10; i++) add('busy', 1 + (i * 500) / HOUR_MS, { kind: 'start' })

test('every condition is judged over its own events, newest first', async () => {
  const { status, json } = await preview({
    process: 'hourly',
    late: { every: '1h', grace: '30m' },
    long: '10m',
    failed: { exceptions: true },
    metric: { name: 'rows', window: '1h', of: 'last', below: 1 },
  })
  expect(status).toBe(200)
  expect(json).toMatchObject({ from: at(50), marks: 12, points: 2, exceptions: 1, events: 15, truncated: false })
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
  expect(json).toMatchObject({ marks: 0, events: 0, total: 0, alerts: [], from: json.to })
})

test('a process that sends exceptions or values alone is tested on them', async () => {
  for (const ago of [5, 4]) add('loud', ago, { kind: 'exception', exception: 'ValueError: no rows' })
  for (const ago of [5, 4, 3]) add('gauge', ago, { kind: 'metrics', items: [['rows', 10 - ago]] })
  const loud = await preview({ process: 'loud', failed: { exceptions: true } })
  expect(loud.json).toMatchObject({ marks: 0, exceptions: 2, events: 2, total: 1 })
  const gauge = await preview({ process: 'gauge', metric: { name: 'rows', window: '1h', of: 'last', above: 5.5 } })
  expect(gauge.json).toMatchObject({ marks: 0, points: 3, events: 3, total: 1 })
})

test.each([
  [
    'value',
    { kind: 'metrics', items: [['rows', 0]] },
    { metric: { name: 'rows', window: '1h', of: 'last', below: 1 } },
  ],
  ['exception', { kind: 'exception', exception: 'ValueError: no rows' }, { failed: { exceptions: true } }],
  ['failed end', { kind: 'end', failed: true }, { failed: {} }],
])('the oldest %s of a history fires as any other', async (kind, event, conditions) => {
  add(`only ${kind}`, 4, event)
  const { json } = await preview({ process: `only ${kind}`, ...conditions })
  expect(json).toMatchObject({ from: at(4), events: 1, total: 1, alerts: [{ since: at(4) }] })
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
    await session.post('/api/watches', { name: 'w', process: 'hourly', channels: [], late }),
  ]
  expect(faultsOf(previewed)).toEqual([422, 'fields_invalid', '/late/cron'])
  expect(previewed.json).toEqual({ ...made.json, request_id: previewed.json.request_id })
  expect(faultsOf(await preview({ process: 'hourly' }))).toEqual([422, 'fields_invalid', ''])
  expect(faultsOf(await preview({ process: 'hourly', mood: 1, failed: {} }))).toEqual([422, 'fields_invalid', '/mood'])
  const stranger = createCaller(app.url, { key: app.keys.owner })
  expect((await stranger.post('/api/watches/preview', { process: 'hourly', failed: {} })).status).toBe(403)
})
