// Everything that the API lets a caller send, over a real socket into real spools: each is answered with 201 and is in the spool as it must be.
import { describe, expect, test } from 'bun:test'
import type { Event } from '../../../src/event/event.ts'
import { formatStamp, formatTime } from '../../../src/event/stamp.ts'
import { startApp, useApp } from '../../support/app.ts'
import type { Answer } from '../../support/caller.ts'

const app = await useApp({ nodeId: 21 })

const EMOJI = '😀'
const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/

/** Sends it, sees the 201, and gives the event that lies in the spool under the stamp of the answer. */
async function accepted(path: string, body: unknown): Promise<Event> {
  const answer = await app.post(path, body)
  expect(answer.text).toMatch(/^\{"at":"[^"]+"\}$/)
  expect(answer.status).toBe(201)
  expect(answer.headers.get('content-type')).toBe('application/json')
  const found = (await app.events()).filter(({ stamp }) => formatTime(stamp) === answer.json.at)
  expect(found).toHaveLength(1)
  return found[0]!
}

describe('each kind', () => {
  test('a start with only the required fields', async () => {
    expect(await accepted('/v1/start', { process: 'p' })).toMatchObject({
      kind: 'start',
      account: app.account,
      process: 'p',
      meta: '',
      uid: '',
    })
  })

  test('an end with all fields', async () => {
    expect(await accepted('/v1/end', { process: 'p', meta: 'eu', uid: 'run_1-a' })).toMatchObject({
      kind: 'end',
      process: 'p',
      meta: 'eu',
      uid: 'run_1-a',
    })
    expect(await accepted('/v1/end', { process: 'p', failed: false })).not.toHaveProperty('failed')
    expect(await accepted('/v1/end', { process: 'p', failed: true })).toHaveProperty('failed', true)
  })

  test('an output of an end, which is an event of its own of the same run and time', async () => {
    const output = `12 files\r\n\t"100%" \u0000${EMOJI}\\`
    const at = new Date(Date.now() - 60_000).toISOString().replace('Z', '123Z')
    const run = { process: 'said', meta: 'eu', uid: 'o-1' }
    for (const body of [
      { ...run, output },
      { process: 'said', output, failed: true, at },
      { ...run, output: '' },
    ]) {
      const before = (await app.events()).length
      const { json, status } = await app.post('/v1/end', body)
      expect(status).toBe(201)
      const events = (await app.events()).slice(0)
      const own = events.filter(({ process, stamp }) => process === 'said' && formatTime(stamp) === json.at)
      const said = own.filter(({ kind }) => kind === 'output')
      expect(events.length - before).toBe(body.output === '' ? 1 : 2)
      expect(said).toEqual(
        body.output === '' ? [] : [expect.objectContaining({ kind: 'output', account: app.account, output })],
      )
      expect(said.map(({ uid }) => uid)).toEqual(body.output === '' ? [] : ['uid' in body ? 'o-1' : undefined])
      expect(own.filter(({ kind }) => kind === 'end')).toHaveLength(1)
    }
    // sent again with its own time it is the same event
    await app.post('/v1/end', { process: 'said', output, failed: true, at })
    const stamps = (await app.events()).filter(
      ({ process, kind, uid }) => process === 'said' && kind === 'output' && !uid,
    )
    expect(new Set(stamps.map(({ stamp }) => formatStamp(stamp))).size).toBe(1)
    for (const [bad, detail] of [
      ['x'.repeat(15_001), 'must have at most 15000 characters'],
      [7, 'must be a string'],
      ['\ud800', 'must be well-formed Unicode'],
    ] as const)
      expect((await app.post('/v1/end', { process: 'said', output: bad })).json.errors).toEqual([
        { pointer: '/output', detail },
      ])
    expect((await app.post('/v1/start', { process: 'said', output })).status).toBe(422)
    expect((await app.post('/v1/output', { process: 'said', output })).status).toBe(404)
    expect((await app.post('/v1/batch', [{ kind: 'output', process: 'said', output }])).status).toBe(422)
  })

  test('metrics in their three forms and mixed', async () => {
    const items = [
      ['rows', 120412],
      ['läng e=1,2', -0.5],
    ]
    const forms = [
      { rows: 120412, 'läng e=1,2': -0.5 },
      [
        { name: 'rows', value: 120412 },
        { name: 'läng e=1,2', value: -0.5 },
      ],
      [{ rows: 120412 }, { 'läng e=1,2': -0.5 }],
      [{ rows: 120412 }, { value: -0.5, name: 'läng e=1,2' }],
    ]
    for (const form of forms)
      expect(await accepted('/v1/metrics', { process: 'p', items: form })).toMatchObject({ kind: 'metrics', items })
  })

  test('an exception, kept character by character', async () => {
    const exception = `Error: it's "100%"\r\n\tat C:\\x\u0000${EMOJI}\\`
    expect(await accepted('/v1/exception', { process: 'p', meta: 'm', exception })).toMatchObject({
      kind: 'exception',
      meta: 'm',
      exception,
    })
    expect(await accepted('/v1/exception', { process: 'p', exception: '' })).toMatchObject({ exception: '' })
  })
})

// What is beyond them: v1-refuses.test.ts.
describe('limits, in code points', () => {
  test('the longest process, meta and uid', async () => {
    const body = { process: EMOJI.repeat(250), meta: EMOJI.repeat(500), uid: `${'a1-_'.repeat(12)}zz` }
    for (const path of ['/v1/start', '/v1/end']) expect(await accepted(path, body)).toMatchObject(body)
  })

  test('a process of one space, and a uid of one sign', async () => {
    for (const uid of ['0', '-', '_']) expect(await accepted('/v1/start', { process: ' ', uid })).toMatchObject({ uid })
  })

  test('an exception of 15,000 emoji', async () => {
    const exception = EMOJI.repeat(15_000)
    expect(await accepted('/v1/exception', { process: 'p', exception })).toMatchObject({ exception })
  })

  test('fifty metrics with names of 250 emoji and extreme numbers', async () => {
    const values = [0, -0, 1, -1, 5e-324, Number.MAX_VALUE, -Number.MAX_VALUE, 2 ** 53, 0.1]
    const items = Object.fromEntries(
      Array.from({ length: 50 }, (_, i) => [EMOJI.repeat(248) + String(i).padStart(2, '0'), values[i % values.length]]),
    )
    const event = await accepted('/v1/metrics', { process: 'p', items })
    expect(event.kind === 'metrics' && event.items.map(([, value]) => value)).toEqual(
      Array.from({ length: 50 }, (_, i) => values[i % values.length]! + 0),
    )
  })
})

describe('stripping', () => {
  test('process and meta are stored without what is stripped', async () => {
    const [sent, kept] = [` n'i"g%h\u0000t\\ly\\`, ' night\\ly']
    expect(await accepted('/v1/start', { process: sent, meta: sent })).toMatchObject({ process: kept, meta: kept })
  })

  test('a meta that is empty after stripping equals no meta', async () => {
    for (const meta of ['', `'"%`, '\\\\', '\u0000'])
      expect(await accepted('/v1/start', { process: 'p', meta })).toMatchObject({ meta: '' })
  })
})

describe('objects', () => {
  test('the last of two fields or metrics of one name counts', async () => {
    const body = '{"process":"first","process":"last","items":{"a":1,"a":2},"items":{"b":1,"a":2,"b":3}}'
    expect(await accepted('/v1/metrics', body)).toMatchObject({
      process: 'last',
      items: [
        ['b', 3],
        ['a', 2],
      ],
    })
  })

  test('ignores an invalid value that a later one of the same name replaces', async () => {
    expect((await app.post('/v1/start', '{"process":5,"process":"p"}')).status).toBe(201)
  })

  test('metrics may be called __proto__, constructor, toString and name', async () => {
    const event = await accepted(
      '/v1/metrics',
      '{"process":"p","items":{"__proto__":1,"constructor":2,"toString":3,"name":4}}',
    )
    expect(event).toMatchObject({
      items: [
        ['__proto__', 1],
        ['constructor', 2],
        ['toString', 3],
        ['name', 4],
      ],
    })
    expect(({} as Record<string, unknown>).constructor).toBe(Object)
  })
})

describe('the stamp', () => {
  const at = (answer: Answer): string => answer.json.at

  test('is that of the node; the answer has the time of arrival with nine digits', async () => {
    app.clock.pass(5_000_000)
    const answer = await app.post('/v1/start', { process: 'p' })
    expect(at(answer)).toMatch(STAMP)
    expect(at(answer).slice(-4)).toBe('000Z')
    expect((await app.events()).find(({ stamp }) => formatTime(stamp) === at(answer))!.stamp.sub).toBe(84)
    expect(Date.parse(at(answer))).toBe(app.clock.wallUs() / 1000)
  })

  test('strictly increases from answer to answer, over steps of the clock of up to a minute back and any forward', async () => {
    const stamps: string[] = []
    for (const step of [0, 0, -30_000_000, 0, 7_200_000_000, -30_000_000]) {
      app.clock.step(step)
      for (const path of ['/v1/start', '/v1/end']) stamps.push(at(await app.post(path, { process: 'p', uid: 'steps' })))
    }
    expect(stamps).toEqual([...new Set(stamps)].sort())
  })

  test('is unique among many concurrent events of all kinds', async () => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        i % 2 ? app.post('/v1/start', { process: 'p' }) : app.post('/v1/exception', { process: 'p', exception: '' }),
      ),
    )
    expect(new Set(answers.map(at)).size).toBe(200)
  })
})

test('the scope write is sufficient; a service of another name has its own header', async () => {
  await using other = await startApp({ serviceName: 'acme-timer' })
  const body = { method: 'POST', body: '{"process":"p"}' }
  const json = { 'content-type': 'application/json' }
  const write = { ...json, 'X-Acme-Timer-Api-Key': other.keys.writer }
  expect((await other.fetch('/v1/start', { ...body, headers: write })).status).toBe(201)
  const wrong = { ...json, 'x-stint-api-key': other.keys.writer }
  expect((await other.fetch('/v1/start', { ...body, headers: wrong })).status).toBe(401)
})
