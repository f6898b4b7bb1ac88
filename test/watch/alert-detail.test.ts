// GET /api/alerts/:id of the real process: a failed run beside the last good one, from real stores, and who was told.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { AlertDetail } from '../../src/wire/alert-detail.ts'
import { createCaller, signUpAt } from '../support/caller.ts'
import { missing } from '../support/needs.ts'
import { until } from '../support/until.ts'
import { startWatched, type WatchedStint } from './watch-stint.ts'

/** A quicker clock would leave the stores less of the answer's 3 s. */
const SPEED = 2
const NOTE = 'Free space in /var/backup, then start it again: https://wiki.example/nightly'
const GOOD = { process: 'nightly', meta: 'eu', uid: 'good' }
const BAD = { ...GOOD, uid: 'bad' }
const FAULT = 'import.sh: exited with code 3\nError: disk full'

describe.skipIf(missing('chdb') !== undefined)('an alert of a failed run', () => {
  let watched: WatchedStint
  let ask: WatchedStint['person']['bySession']['call']
  let watch: string
  /** The first alert. */
  let id: string
  let from: number
  const at = (seconds: number) => new Date(from + seconds * 1000).toISOString()
  /** Once every part was there in time: the machine may be slow. */
  async function show(alert = id): Promise<AlertDetail> {
    let shown: AlertDetail | undefined
    await until('every part is there', async () => {
      const { status, json } = await ask('GET', `/api/alerts/${alert}`)
      shown = json
      return status === 200 && json.unavailable.length === 0
    })
    return shown!
  }

  beforeAll(async () => {
    watched = await startWatched(() => ({ SIGNUP: 'open' }), SPEED)
    ask = watched.person.bySession.call
    from = watched.stint.nowMs() - 400_000
    const written = await ask('PUT', '/api/processes/note', { process: 'nightly', note: ` ${NOTE}\n` })
    expect([written.status, written.json.note]).toEqual([200, NOTE])
    watch = (await watched.watch('nightly', { failed: {} })).id
    await watched.send('start', { ...GOOD, at: at(0) })
    await watched.send('metrics', { ...GOOD, at: at(5), items: { rows: 100, errors: 4, skipped: 7 } })
    await watched.send('end', { ...GOOD, at: at(10), output: 'read 100 rows\ndone' })
    await watched.send('start', { ...GOOD, meta: 'us', uid: 'other', at: at(20) })
    await watched.send('end', { ...GOOD, meta: 'us', uid: 'other', at: at(30) })
    await watched.send('start', { process: 'long one', at: at(-60) })
    await watched.send('start', { process: 'broken', uid: 'x', at: at(90) })
    await watched.send('end', { process: 'broken', uid: 'x', failed: true, at: at(95) })
    await watched.send('start', { ...BAD, at: at(100) })
    await watched.send('metrics', { ...BAD, at: at(110), items: { rows: 10, errors: 5 } })
    await watched.send('exception', { ...BAD, exception: FAULT })
    await watched.send('end', { ...BAD, failed: true, output: 'read 10 rows' }) // a failure of before the watch fires nothing
    await watched.gets('firing', 'nightly')
    id = watched.got('firing', 'nightly')[0]!.body.data.id
    await until('both are stored', async () => {
      const { output, good_output, notifications, exceptions } = await show()
      const isSent = notifications.some(({ state }) => state === 'delivered')
      return output !== null && good_output !== null && isSent && exceptions[0]?.first_seen_at !== undefined
    })
  })
  afterAll(() => watched[Symbol.asyncDispose]())

  test('has both runs of the meta, their metrics, outputs and exceptions, and how the command ended', async () => {
    const shown = await show()
    const times = ({ started_at, ended_at, duration_ms }: NonNullable<AlertDetail['run']>) => [
      ...[started_at, ended_at].map((time) => Date.parse(time!)),
      duration_ms,
    ]
    expect(shown.run).toMatchObject({ ...BAD, state: 'failed', exit: { code: 3, signal: null } })
    const [startedMs, endedMs, tookMs] = times(shown.run!)
    expect([startedMs, Date.parse(shown.alert.since)]).toEqual([Date.parse(at(100)), endedMs!])
    expect(Math.round(tookMs! / 1000)).toBe(Math.round((endedMs! - startedMs!) / 1000))
    expect(shown.good_run).toMatchObject({ ...GOOD, state: 'completed', exit: null })
    expect(times(shown.good_run!)).toEqual([Date.parse(at(0)), Date.parse(at(10)), 10_000])
    expect(shown.metrics).toEqual([
      { name: 'rows', value: 10, good_value: 100 },
      { name: 'errors', value: 5, good_value: 4 },
      { name: 'skipped', value: null, good_value: 7 },
    ])
    expect([shown.output, shown.good_output]).toEqual(['read 10 rows', 'read 100 rows\ndone'])
    expect(shown.late).toBeNull()
    expect(shown.exceptions).toMatchObject([
      { uid: 'bad', exception: FAULT, headline: 'Error: disk full', previous_at: null, last_7_days: 1 },
    ])
    expect(shown.exceptions[0]!.first_seen_at).toBe(shown.exceptions[0]!.at)
  })

  test('has what failed and what ran around it, without the run itself', async () => {
    const { around } = await show()
    expect(around.failed).toMatchObject([{ process: 'broken', uid: 'x', state: 'failed', duration_ms: 5_000 }])
    const running = around.running.map(({ process, uid, state }) => [process, uid, state].join(' ')).sort()
    expect(running).toEqual(['long one  running', 'nightly good completed', 'nightly other completed'])
    expect([around.more_failed, around.more_running]).toEqual([0, 0])
  })

  test('has its watch, the note, and who was told and who was not', async () => {
    const { json } = await ask('POST', '/api/channels', {
      ...{ name: 'late shift', kind: 'webhook', url: 'http://127.0.0.1:1/', delay: '2h' },
    })
    const { channels } = (await ask('GET', `/api/watches/${watch}`)).json.watch
    await ask('PATCH', `/api/watches/${watch}`, { channels: [...channels, json.channel.id] })
    const shown = await show()
    expect(shown.alert).toMatchObject({ id, condition: 'failed', state: 'firing' })
    expect(shown.watch).toMatchObject({ id: watch, failed: { after: 1 } })
    expect(shown).toMatchObject({ note: NOTE, note_by: 'ada@example.com' })
    expect(shown.notifications).toMatchObject([
      { channel: { name: 'hook', kind: 'webhook' }, type: 'alert.firing', state: 'delivered', answer: '200 taken' },
    ])
    expect(shown.not_notified).toMatchObject([{ channel: { name: 'late shift' }, reason: 'delay' }])
    expect(Date.parse(shown.not_notified[0]!.until!)).toBeGreaterThan(watched.stint.nowMs() + 3_600_000)
  })

  test('gives its webhook the note', () => {
    expect(watched.got('firing', 'nightly')[0]!.body.data.note).toBe(NOTE)
  })

  test('tells of the next failure with the same fault since when it is known', async () => {
    await watched.send('start', { ...GOOD, uid: 'fine' })
    await watched.send('end', { ...GOOD, uid: 'fine' })
    await watched.gets('resolved', 'nightly')
    await watched.send('start', { ...GOOD, uid: 'again' })
    await watched.send('exception', { ...GOOD, uid: 'again', exception: FAULT })
    await watched.send('end', { ...GOOD, uid: 'again', failed: true })
    await watched.gets('firing', 'nightly', 2)
    const second = watched.got('firing', 'nightly')[1]!.body.data.id
    await until('both runs are stored', async () => {
      const { good_run, exceptions } = await show(second)
      return good_run?.uid === 'fine' && exceptions[0]?.last_7_days === 2
    })
    const shown = await show(second)
    expect(shown.exceptions).toHaveLength(1)
    const { first_seen_at, previous_at } = shown.exceptions[0]!
    const first = await show()
    expect([first_seen_at, previous_at]).toEqual(Array(2).fill(first.exceptions[0]!.at))
    expect(first.exceptions[0]).toMatchObject({ previous_at: null, last_7_days: 1 })
    expect(first.alert).toMatchObject({ state: 'resolved', ended_by: 'event' })
    const types = first.notifications.map(({ type }) => type)
    expect(types).toEqual(['alert.firing', 'alert.resolved'])
    const { groups } = (await ask('GET', '/api/exceptions/groups?process=nightly&from=-1d')).json
    expect(groups).toMatchObject([{ count: 2, is_new: true }])
  })

  test('of a missing start has its due time, the last start and the gaps between starts', async () => {
    for (const s of [0, 60, 120, 181]) await watched.send('start', { process: 'minutely', at: at(s) })
    await watched.watch('minutely', { late: { every: '1s', grace: '1s' } })
    await watched.gets('firing', 'minutely')
    const late = watched.got('firing', 'minutely')[0]!.body.data.id
    await until('the starts are stored', async () => (await show(late)).late?.gaps_ms.length === 3)
    const shown = await show(late)
    expect(shown.late).toMatchObject({ gaps_ms: [60_000, 60_000, 61_000] })
    expect(Date.parse(shown.late!.last_start_at!)).toBe(Date.parse(at(181)))
    expect(Date.parse(shown.late!.due_at!)).toBe(Date.parse(shown.alert.since) - 1_000)
    expect([shown.run, shown.good_run, shown.output, shown.metrics]).toEqual([null, null, null, []])
  })

  test('is not found by others, and a key that only writes may not ask', async () => {
    expect((await ask('GET', '/api/alerts/ale_unknown')).status).toBe(404)
    const other = await signUpAt(watched.stint.url, 'eve@example.com')
    expect((await other.bySession.get(`/api/alerts/${id}`)).status).toBe(404)
    expect((await other.bySession.get('/api/overview?process=nightly')).json.processes).toEqual([])
    const make = async (scopes: string[]) => (await ask('POST', '/api/keys', { name: 'k', scopes })).json.key.secret
    const by = async (scopes: string[]) =>
      createCaller(watched.stint.url, { key: await make(scopes) }).get(`/api/alerts/${id}`)
    expect((await by(['write'])).status).toBe(403)
    const { status, json } = await by(['read'])
    expect([status, json.notifications[0].answer]).toEqual([200, '200'])
  })
})
