// Events that bring their own time (`at`), and the safe retry it gives.
import { describe, expect, test } from 'bun:test'
import type { Event } from '../../../src/event/event.ts'
import { contentOf } from '../../../src/event/identity.ts'
import { formatStampNs, formatTime } from '../../../src/event/stamp.ts'
import { startApp, useApp } from '../../support/app.ts'

const app = await useApp({ nodeId: 3 })

const SECOND_US = 1_000_000
const DAY_US = 86_400 * SECOND_US

/** The time so many µs from the wall clock, with µs. */
const timeAt = (fromNowUs: number): string => {
  const us = app.clock.wallUs() + fromNowUs
  return new Date(Math.floor(us / 1000)).toISOString().replace('Z', `${String(us % 1000).padStart(3, '0')}Z`)
}
/** What is in the spools with this time. */
const eventsAt = async (at: string) =>
  (await app.events()).filter(({ stamp }) => formatTime(stamp) === at.replace('Z', '000Z'))
/** Equal for events that a store takes for one. */
const identityOf = (event: Event) => `${contentOf(event)} ${formatStampNs(event.stamp)}`
let times = 0
/** A past time that no other test uses. */
const freshTime = () => timeAt(-DAY_US - ++times * 10 * SECOND_US)

async function refuses(at: unknown, detail: string): Promise<void> {
  const answer = await app.post('/v1/start', { process: 'p', at })
  expect([answer.status, answer.json.code]).toEqual([422, 'fields_invalid'])
  expect(answer.json.errors).toEqual([{ pointer: '/at', detail }])
}

describe('the time', () => {
  test('is the time of the answer on every endpoint', async () => {
    for (const [path, body] of [
      ['/v1/start', { process: 'p' }],
      ['/v1/end', { process: 'p', uid: 'u' }],
      ['/v1/metrics', { process: 'p', items: { a: 1 } }],
      ['/v1/exception', { process: 'p', exception: 'e' }],
    ] as const) {
      const at = freshTime()
      const answer = await app.post(path, { ...body, at })
      expect([answer.status, answer.json]).toEqual([201, { at: at.replace('Z', '000Z') }])
    }
  })

  test('may have an offset, lower-case letters and no fraction', async () => {
    const at = freshTime().slice(0, 19)
    const later = (hours: number) => new Date(Date.parse(`${at}Z`) + hours * 3_600_000).toISOString().slice(0, 19)
    const forms = [`${at}z`, `${at.replace('T', 't')}.000Z`, `${later(2)}+02:00`, `${later(-5)}.000000000-05:00`]
    const answers = await Promise.all(forms.map((form) => app.post('/v1/start', { process: 'forms', at: form })))
    expect(new Set(answers.map(({ json }) => json.at))).toEqual(new Set([`${at}.000000000Z`]))
  })

  test('is truncated to the µs', async () => {
    const at = freshTime().slice(0, 19)
    const answer = await app.post('/v1/start', { process: 'p', at: `${at}.123456999Z` })
    expect(answer.json.at).toBe(`${at}.123456000Z`)
  })

  // All other forms: test/event/rfc3339.test.ts.
  test.each(['', 'now', '2026-11-20T21:52:42', '2026-11-20T21:52:42.0123456789Z', 1_795_211_562, null, {}])(
    'rejects %j',
    (at) => refuses(at, 'must be an RFC 3339 time such as 2026-11-20T21:52:42Z, with at most nine digits of a second'),
  )

  test('may be up to seven days old', async () => {
    expect((await app.post('/v1/start', { process: 'p', at: timeAt(-7 * DAY_US) })).status).toBe(201)
    await refuses(timeAt(-7 * DAY_US - 1), 'is too long ago: older than MAX_AGE (7d)')
    await refuses('1970-01-01T00:00:00Z', 'is too long ago: older than MAX_AGE (7d)')
    await refuses('0000-01-01T00:00:00Z', 'is too long ago: older than MAX_AGE (7d)')
  })

  test('may be up to five minutes ahead', async () => {
    expect((await app.post('/v1/start', { process: 'p', at: timeAt(300 * SECOND_US) })).status).toBe(201)
    await refuses(timeAt(300 * SECOND_US + 1), 'is more than 5 minutes ahead')
    await refuses('9999-12-31T23:59:59Z', 'is more than 5 minutes ahead')
  })
})

describe('the same time and content', () => {
  test('is the same event with the same answer, however often and however it is written', async () => {
    const at = freshTime()
    const bodies = [
      { process: 'p', meta: 'm', uid: 'u', at },
      { at, uid: 'u', meta: `m'`, process: 'p%' },
    ]
    const answers = []
    for (const body of [...bodies, ...bodies]) answers.push(await app.post('/v1/start', body))
    answers.push(...(await Promise.all(bodies.map((body) => app.post('/v1/start', body)))))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers.every(({ status }) => status === 201)).toBe(true)
  })

  test('with another kind or field is another event of the same time', async () => {
    const at = freshTime()
    const answers = [
      await app.post('/v1/start', { process: 'p', at }),
      await app.post('/v1/end', { process: 'p', at }),
      await app.post('/v1/end', { process: 'p', failed: true, at }),
      await app.post('/v1/start', { process: 'q', at }),
      await app.post('/v1/start', { process: 'p', meta: 'm', at }),
      await app.post('/v1/start', { process: 'p', uid: 'u', at }),
      await app.post('/v1/exception', { process: 'p', exception: '', at }),
    ]
    expect(answers.map(({ json }) => json.at)).toEqual(answers.map(() => at.replace('Z', '000Z')))
    const events = await eventsAt(at)
    expect(new Set(events.map(contentOf)).size).toBe(answers.length)
    await app.post('/v1/start', { process: 'q', at })
    const again = await eventsAt(at)
    expect(again).toHaveLength(answers.length + 1)
    expect(new Set(again.map(identityOf)).size).toBe(answers.length)
  })

  test('with its metrics in another order or form is the same event', async () => {
    const at = freshTime()
    const forms = [{ a: 1, b: 2 }, { b: 2, a: 1 }, [{ name: 'b', value: 2 }, { a: 1 }]]
    const answers = []
    for (const items of forms) answers.push(await app.post('/v1/metrics', { process: 'p', items, at }))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(new Set((await eventsAt(at)).map(({ stamp }) => formatStampNs(stamp))).size).toBe(1)
    await app.post('/v1/metrics', { process: 'p', items: { a: 1, b: 3 }, at })
    expect(new Set((await eventsAt(at)).map(({ stamp }) => formatStampNs(stamp))).size).toBe(2)
  })

  test('many concurrent events of one time all get their own stamps', async () => {
    const at = freshTime()
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => app.post('/v1/start', { process: 'p', uid: `u${i}`, at })),
    )
    expect(new Set(answers.map(({ json }) => json.at))).toEqual(new Set([at.replace('Z', '000Z')]))
    const events = await eventsAt(at)
    expect(new Set(events.map(({ stamp }) => formatStampNs(stamp))).size).toBe(100)
  })
})

test('an event without `at` never shares a stamp with one that has it', async () => {
  const stamped = await app.post('/v1/start', { process: 'p' })
  const own = await app.post('/v1/start', { process: 'p', at: stamped.json.at })
  expect(own.json.at).toBe(stamped.json.at)
  const lanes = (await eventsAt(stamped.json.at.replace('000Z', 'Z'))).map(({ stamp }) => stamp.sub % 2)
  expect(lanes.toSorted()).toEqual([0, 1])
})

test('the spool remembers the newest stamp of a batch, so that no stamp after a restart is earlier', async () => {
  const { json } = await app.post(
    '/v1/batch',
    Array.from({ length: 50 }, () => ({ kind: 'start', process: 'floor' })),
  )
  const last = json.items.at(-1).at as string
  const us = BigInt(Date.parse(last)) * 1000n + BigInt(last.slice(-7, -4))
  expect(BigInt(app.spools.points.floorUs)).toBe(us)
})

test('an event with its own time also raises the floor of the stamps', async () => {
  await using own = await startApp()
  await own.post('/v1/start', { process: 'p' })
  const before = own.spools.points.floorUs
  const at = new Date(own.clock.wallUs() / 1000 - 3_600_000).toISOString()
  expect((await own.post('/v1/start', { process: 'p', at })).status).toBe(201)
  expect(own.spools.points.floorUs).toBeGreaterThan(before)
})

test('more events of one µs than it has stamps stay distinct, also in a batch, and a retry duplicates none', async () => {
  await using own = await startApp()
  const second = new Date(own.clock.wallUs() / 1000 - 60_000).toISOString().slice(0, 19)
  const batch = Array.from({ length: 1000 }, (_, i) => ({
    kind: 'start',
    process: 'full',
    uid: `u${i}`,
    at: `${second}.123456Z`,
  }))
  const alone = { kind: 'start', process: 'beside', at: `${second}.123456Z` }
  const [first, beside, again] = [
    await own.post('/v1/batch', batch),
    await own.post('/v1/batch', [alone]),
    await own.post('/v1/batch', batch),
  ]
  expect([first.status, first.json.accepted]).toEqual([201, 1000])
  expect(beside.json.items).toEqual([{ at: `${second}.123456000Z` }])
  expect(again.text).toBe(first.text)
  const events = (await own.events()).filter(({ process }) => process === 'full')
  expect(events).toHaveLength(2000)
  expect(new Set(events.map(identityOf)).size).toBe(1000)
  expect(new Set(events.map(({ stamp }) => formatStampNs(stamp))).size).toBe(1000)
})

test('a wall clock that jumps ahead and back changes no stamp', async () => {
  await using own = await startApp()
  const body = { process: 'p', at: new Date(own.clock.wallUs() / 1000 - 60_000).toISOString() }
  const first = await own.post('/v1/start', body)
  own.clock.step(8 * DAY_US)
  expect((await own.post('/v1/start', body)).status).toBe(422)
  expect((await own.post('/v1/start', { process: 'p' })).status).toBe(201)
  own.clock.step(-8 * DAY_US)
  expect((await own.post('/v1/start', body)).text).toBe(first.text)
  const stamps = (await own.events())
    .filter(({ stamp }) => stamp.sub % 2 === 1)
    .map(({ stamp }) => formatStampNs(stamp))
  expect(stamps).toHaveLength(2)
  expect(new Set(stamps).size).toBe(1)
})
