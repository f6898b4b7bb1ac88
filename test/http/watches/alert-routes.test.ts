// The note of a process and an alert over HTTP, while no store takes or answers anything.
import { beforeAll, expect, test } from 'bun:test'
import { createDesk } from '../../../src/query/desk.ts'
import type { Rooms } from '../../../src/service/open-rooms.ts'
import { createShowAlert } from '../../../src/service/show-alert.ts'
import { StoreError } from '../../../src/store/source.ts'
import type { AlertDetail, StoredPart } from '../../../src/wire/alert-detail.ts'
import type { Role } from '../../../src/wire/roles.ts'
import { startApp, type TestApp, useApp, waitingStores } from '../../support/app.ts'
import { faultsOf, signInAt } from '../../support/caller.ts'
import { createMemoryStore, type MemoryStore } from '../../support/memory-sink.ts'
import { createMemorySource } from '../../support/memory-source.ts'
import { enter, join, ownerOf } from '../../support/people.ts'
import { until } from '../../support/until.ts'

const app = await useApp({ signup: 'open' })
let cookies: Record<Role | 'stranger', string>
beforeAll(async () => {
  const eve = await app.rooms.accounts.create({ email: 'eve@example.com', password: 'a long password', address: '' })
  cookies = {
    viewer: await enter(app, await join(app, 'viewer')),
    member: await enter(app, await join(app, 'member')),
    owner: await enter(app, (await ownerOf(app)).person),
    stranger: await enter(app, eve.owner.id, eve.account.id),
  }
})
const write = (body: unknown, who: keyof typeof cookies = 'member') =>
  app.fetch('/api/processes/note', {
    method: 'PUT',
    headers: { cookie: cookies[who], 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const noteOf = async (process: string, who: keyof typeof cookies = 'viewer') => {
  const headers = { cookie: cookies[who] }
  const { json } = await app.fetch(`/api/overview?process=${process}`, { headers })
  return json.processes[0]?.note
}

test('a member writes the note of a process, everyone of the account reads it, and the audit log says who', async () => {
  await app.post('/v1/start', { process: 'nightly' })
  expect(await noteOf('nightly')).toBeNull()
  const { status, json } = await write({ process: "'nightly'", note: '  free /var\n\tthen start it again ' })
  expect([status, json]).toMatchObject([
    200,
    { note: 'free /var\n\tthen start it again', note_by: 'member@example.com' },
  ])
  expect(await noteOf('nightly')).toBe('free /var\n\tthen start it again')
  expect(await noteOf('nightly', 'stranger')).toBeUndefined()
  expect((await write({ process: 'nightly', note: ' ' }, 'owner')).json).toEqual({
    ...{ note: null, note_by: null, note_at: null },
  })
  expect(await noteOf('nightly')).toBeNull()
  const log = await app.fetch('/api/audit?action=process_note_written', { headers: { cookie: cookies.owner } })
  const entries = log.json.entries as { actor: string; target: string; detail: string }[]
  expect(entries.map(({ actor, target, detail }) => [actor, target, detail])).toEqual([
    ['ada@example.com', 'nightly', 'deleted'],
    ['member@example.com', 'nightly', '30 characters'],
  ])
})

test('a note that was changed meanwhile is kept, and every viewer lists the notes of the account alone', async () => {
  const first = (await write({ process: 'shared', note: 'one' })).json
  app.clock.pass(1e6)
  expect((await write({ process: 'shared', note: 'two', replaces: first.note_at }, 'owner')).status).toBe(200)
  const late = await write({ process: 'shared', note: 'three', replaces: first.note_at })
  expect([late.status, late.json.code]).toEqual([409, 'note_changed'])
  expect(late.json.detail).toStartWith('ada@example.com wrote another one at ')
  const list = (who: keyof typeof cookies) => app.fetch('/api/processes/notes', { headers: { cookie: cookies[who] } })
  expect((await list('viewer')).json.notes).toMatchObject([{ process: 'shared', note: 'two' }])
  expect((await list('stranger')).json.notes).toEqual([])
  expect((await write({ process: 'shared', note: '' })).status).toBe(200)
})

test('a note of 4,000 characters is taken however JSON writes them', async () => {
  const note = '\u{1f4be}'.repeat(4_000)
  const body = JSON.stringify({ process: '\u{1f4be}'.repeat(250), note })
  const escaped = body.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`)
  const headers = { cookie: cookies.member, 'content-type': 'application/json' }
  const answers = [body, escaped].map((body) => app.fetch('/api/processes/note', { method: 'PUT', headers, body }))
  for (const { status, json } of await Promise.all(answers)) expect([status, json.note]).toEqual([200, note])
})

test('a viewer and a key without manage write no note; one that is too long or has control characters is refused', async () => {
  expect((await write({ process: 'p', note: 'x' }, 'viewer')).json.code).toBe('role_missing')
  const body = JSON.stringify({ process: 'p', note: 'x' })
  const byKey = { method: 'PUT', key: app.keys.owner, headers: { 'content-type': 'application/json' }, body }
  expect((await app.fetch('/api/processes/note', byKey)).json.code).toBe('scope_missing')
  expect((await write({ process: 'p', note: '\u{1f600}'.repeat(3_000) })).status).toBe(200)
  expect(faultsOf(await write({ process: 'p', note: 'x'.repeat(4_001) }))).toEqual([422, 'fields_invalid', '/note'])
  expect(faultsOf(await write({ process: 'p', note: 'a\u0000b' }))).toEqual([422, 'fields_invalid', '/note'])
  expect(faultsOf(await write({ process: "'", note: 'x' }))).toEqual([422, 'fields_invalid', '/process'])
})

const EVERY_PART: StoredPart[] = ['around', 'exceptions', 'good_run', 'metrics', 'output', 'run']

/** Returns the alert about a run that failed. */
async function failJob(of: TestApp): Promise<string> {
  const { call } = await signInAt(of.url)
  const watch = { name: 'job fails', process: 'job', failed: {}, channels: [] as string[] }
  expect((await call('POST', '/api/watches', watch)).status).toBe(201)
  of.clock.pass(1e6)
  await of.post('/v1/start', { process: 'job', uid: 'a' })
  of.clock.pass(2e6)
  await of.post('/v1/exception', { process: 'job', uid: 'a', exception: 'Error: disk full\n  at x' })
  await of.post('/v1/end', { process: 'job', uid: 'a', failed: true })
  let id = ''
  await until('it fires', async () => {
    of.clock.pass(1e6)
    id = (await call('GET', '/api/alerts')).json.alerts[0]?.id ?? ''
    return id !== ''
  })
  return id
}

const away = () => Promise.reject(new StoreError('away'))
const awayStores = async () => ({
  ...waitingStores,
  points: new Proxy(waitingStores.points, { get: (target, name) => (name in target ? away : undefined) }),
  exceptions: new Proxy(waitingStores.exceptions, { get: (target, name) => (name in target ? away : undefined) }),
})

test('with both stores away an alert has its sentence, watch and note, and the run that the watch remembers', async () => {
  await using lost = await startApp({ openStores: awayStores })
  const { call } = await signInAt(lost.url)
  await call('PUT', '/api/processes/note', { process: 'job', note: 'call ada' })
  const id = await failJob(lost)
  const { status, json } = await call('GET', `/api/alerts/${id}`)
  const shown: AlertDetail = json
  expect(status).toBe(200)
  expect(shown).toMatchObject({ alert: { id, state: 'firing' }, watch: { name: 'job fails' }, note: 'call ada' })
  expect(shown.run).toMatchObject({ process: 'job', uid: 'a', state: 'failed' })
  expect(Math.round(shown.run!.duration_ms! / 1000)).toBe(2)
  expect(shown.unavailable.toSorted()).toEqual(EVERY_PART)
  expect([shown.good_run, shown.metrics, shown.output, shown.good_output]).toEqual([null, [], null, null])
  expect(shown.around).toEqual({ failed: [], more_failed: 0, running: [], more_running: 0 })
})

test('stores that never answer delay no answer: it names every part after its time', async () => {
  const never = () => new Promise<never>(() => {})
  const silent = <S extends object>(source: S): S =>
    new Proxy(source, { get: (target, name) => (name in target ? never : undefined) })
  const replace = (rooms: Rooms): Rooms => ({
    ...rooms,
    showAlert: createShowAlert({
      ...{ points: silent(waitingStores.points), exceptions: silent(waitingStores.exceptions) },
      ...{ watches: rooms.watches, overview: { look: never }, notes: rooms.accounts.notes, desk: createDesk() },
      ...{
        groupStates: rooms.accounts.groupStates,
        nowUs: rooms.stampClock.nowUs,
        storedUs: rooms.live.storedUs,
        maxRunNs: 10n ** 14n,
        withinMs: 50,
      },
    }),
  })
  await using mute = await startApp({ replace })
  const id = await failJob(mute)
  const { call } = await signInAt(mute.url)
  const { status, json } = await call('GET', `/api/alerts/${id}`)
  expect([status, json.run.uid, json.unavailable.toSorted()]).toEqual([200, 'a', EVERY_PART])
})

const storesOf = (held: MemoryStore) => async () => ({
  ...waitingStores,
  ...createMemorySource(held.events),
  sinks: { points: held.sink(), exceptions: held.sink() },
})

test('an older run is never shown as the last good one while a newer one is not stored', async () => {
  const held = createMemoryStore()
  await using lagging = await startApp({ openStores: storesOf(held) })
  const { call } = await signInAt(lagging.url)
  const run = async (uid: string) => {
    await lagging.post('/v1/start', { process: 'job', uid })
    lagging.clock.pass(1e6)
    await lagging.post('/v1/end', { process: 'job', uid })
    lagging.clock.pass(1e6)
  }
  await run('one')
  await until('the first run is stored', () => held.events().length === 2)
  held.faults.next = () => ({ kind: 'wait', reason: 'this store is slow' })
  await run('two')
  const id = await failJob(lagging)
  const show = async (): Promise<AlertDetail> => (await call('GET', `/api/alerts/${id}`)).json
  const { good_run, unavailable, run: failed } = await show()
  expect([good_run, unavailable, failed?.uid]).toEqual([null, ['good_run'], 'a'])
  delete held.faults.next
  await until('the newer run is shown', async () => {
    lagging.clock.pass(1e6)
    const shown = await show()
    expect(shown.good_run?.uid ?? 'two').toBe('two')
    return shown.good_run !== null
  })
})

test('what ran around an alert is shown long after live has forgotten it', async () => {
  const held = createMemoryStore()
  await using old = await startApp({ openStores: storesOf(held) })
  const { call } = await signInAt(old.url)
  const run = async (process: string, uid: string, failed = false) => {
    await old.post('/v1/start', { process, uid })
    old.clock.pass(1e6)
    await old.post('/v1/end', { process, uid, failed })
  }
  const around = async () => {
    const { around, unavailable }: AlertDetail = (await call('GET', `/api/alerts/${id}`)).json
    expect(unavailable).not.toContain('around')
    return [around.failed, around.running].map((runs) => runs.map(({ process, uid }) => `${process} ${uid}`))
  }
  await run('good', 'then')
  await run('bad', 'then', true)
  const id = await failJob(old)
  await call('GET', '/api/overview')
  expect(await around()).toEqual([['bad then'], ['good then']])
  old.clock.pass(3_600e6)
  for (const process of ['good', 'bad']) for (let i = 0; i < 70; i++) await run(process, `later-${i}`)
  await until('all is stored', () => held.events().length > 280)
  expect(await around()).toEqual([['bad then'], ['good then']])
})

test('until a store has its run, an alert has it and its exception from the log', async () => {
  await using slow = await startApp() // the stores take nothing, and answer that they have nothing
  const { call } = await signInAt(slow.url)
  await call('GET', '/api/overview')
  await slow.post('/v1/start', { process: 'other' })
  await slow.post('/v1/end', { process: 'other', failed: true })
  const id = await failJob(slow)
  const shown: AlertDetail = (await call('GET', `/api/alerts/${id}`)).json
  expect([shown.unavailable, shown.good_run]).toEqual([['good_run'], null])
  expect(shown.run).toMatchObject({ process: 'job', uid: 'a', state: 'failed' })
  expect(shown.exceptions).toMatchObject([{ uid: 'a', headline: 'Error: disk full', previous_at: null }])
  expect(shown.around).toMatchObject({ failed: [{ process: 'other' }], running: [] })
})
