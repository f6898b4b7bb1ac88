// POST /v1/batch: many events in one call, in both forms and packed; what is good is taken, what is bad is named by its index.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { formatTime } from '../../../src/event/stamp.ts'
import { startApp, type TestApp, useApp } from '../../support/app.ts'

const EVENTS = [
  { kind: 'start', process: 'b', uid: 'u' },
  { kind: 'metrics', process: 'b', meta: 'm', items: { a: 1, b: 2 } },
  { kind: 'exception', process: 'b', exception: 'x\ny' },
  { kind: 'end', process: 'b', uid: 'u' },
]
const LINES = { 'content-type': 'application/x-ndjson' }
const toLines = (events: readonly unknown[], newline = '\n') =>
  events.map((event) => JSON.stringify(event)).join(newline)
/** Accepts nothing in the tests that use it. */
const app = await useApp()
/** Accepts events of many tests; those that look at all that was accepted start their own. */
const taker = await useApp()
async function fillExceptions(app: TestApp): Promise<void> {
  const filler = { process: 'full', exception: 'x'.repeat(15_000) }
  for (let i = 0; i < 200 && app.spools.exceptions.refusal() === undefined; i++) await app.post('/v1/exception', filler)
  expect(app.spools.exceptions.refusal()).toBe('spool_full')
}
/** The kinds of all events that `taker` has accepted since the first of these answers, in the order of the spools. */
async function kindsOf(items: readonly { at?: string }[]): Promise<string[]> {
  const first = items.find(({ at }) => at !== undefined)!.at!
  return (await taker.events()).filter(({ stamp }) => formatTime(stamp) >= first).map(({ kind }) => kind)
}

describe('a batch of valid events', () => {
  test.each<[string, string | Uint8Array, Record<string, string>]>([
    ['an array', JSON.stringify(EVENTS), {}],
    ['JSON lines', toLines(EVENTS), LINES],
    [
      'JSON lines that end in CRLF, with ones of white space between and at the end',
      `\r\n${toLines(EVENTS, '\r\n \t\r\n')}\r\n`,
      LINES,
    ],
    ['an array in gzip', gzipSync(JSON.stringify(EVENTS)), { 'content-encoding': 'gzip' }],
    ['JSON lines in zstd', zstdCompressSync(toLines(EVENTS)), { ...LINES, 'content-encoding': 'zstd' }],
    ['an array in a coding in capitals', gzipSync(JSON.stringify(EVENTS)), { 'content-encoding': 'GZIP' }],
    ['JSON lines with a charset', toLines(EVENTS), { 'content-type': 'application/x-ndjson; charset=utf-8' }],
  ])('%s: 201 with a stamp each, in order', async (_, body, headers) => {
    const { status, json } = await taker.post('/v1/batch', body, headers)
    expect(status).toBe(201)
    expect(json).toEqual({
      accepted: 4,
      refused: 0,
      items: Array(4).fill({ at: expect.stringMatching(/^\d{4}-.*\d{9}Z$/) }),
    })
    const stamps = json.items.map(({ at }: { at: string }) => at)
    expect([...new Set(stamps)].sort()).toEqual(stamps)
    expect(await kindsOf(json.items)).toEqual(['start', 'metrics', 'end', 'exception'])
  })

  test('accepts up to a thousand events', async () => {
    await using app = await startApp()
    const events = Array(1000).fill({ kind: 'start', process: 'p' })
    expect((await app.post('/v1/batch', events)).json).toMatchObject({ accepted: 1000, refused: 0 })
    for (const [body, headers] of [
      [JSON.stringify([...events, events[0]]), {}],
      [toLines([...events, events[0]]), LINES],
    ] as const) {
      const { status, json } = await app.post('/v1/batch', body, headers)
      expect([status, json.code, json.errors]).toEqual([
        422,
        'fields_invalid',
        [{ pointer: '', detail: 'must hold at most 1000 events; send several batches' }],
      ])
    }
    expect((await app.events()).length).toBe(1000)
  })
})

describe('a batch with faults', () => {
  test('in some events: 207; the others are accepted, and each error has the index of its event', async () => {
    await using app = await startApp()
    const { status, json } = await app.post('/v1/batch', [
      EVENTS[0],
      { kind: 'start' },
      { kind: 'metrics', process: 'p', items: { a: 'x' } },
      { kind: 'never', process: 'p' },
      7,
      null,
      { ...EVENTS[0], at: '1999-01-01T00:00:00Z' },
      { ...EVENTS[0], extra: 1 },
      EVENTS[3],
    ])
    expect(status).toBe(207)
    expect(json).toMatchObject({ accepted: 2, refused: 7 })
    const pointers = json.items.map((item: { errors?: { pointer: string }[] }) => item.errors?.[0]?.pointer)
    expect(pointers).toEqual([
      undefined,
      '/1/process',
      '/2/items/a',
      '/3/kind',
      '/4',
      '/5',
      '/6/at',
      '/7/extra',
      undefined,
    ])
    expect(json.items[1]).toMatchObject({ status: 422, code: 'fields_invalid' })
    expect((await app.events()).map(({ kind }) => kind)).toEqual(['start', 'end'])
    expect(await app.refused()).toHaveLength(7)
  })

  test('in a line: the other lines are accepted', async () => {
    const { status, json } = await taker.post(
      '/v1/batch',
      `${JSON.stringify(EVENTS[0])}\n{"kind":\n${JSON.stringify(EVENTS[3])}`,
      LINES,
    )
    expect(status).toBe(207)
    expect(json.items[1]).toMatchObject({ status: 422, code: 'json_malformed', errors: [{ pointer: '/1' }] })
    expect(await kindsOf(json.items)).toEqual(['start', 'end'])
  })

  describe('in an event that is large beyond need: the others are accepted', () => {
    const nested = `{"kind":"start","process":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
    const long = `{"kind":"start","process":"${'x'.repeat(256 * 1024)}"}`
    const one = JSON.stringify(EVENTS[0])
    test.each<[string, string, Record<string, string>, object]>([
      ['an array', `[${nested},${one},${long},${one}]`, {}, { pointer: '/0/process', detail: 'must be a string' }],
      ['lines', [nested, one, long, one].join('\n'), LINES, { pointer: '/0', detail: 'must hold at most 5000 values' }],
    ])('%s', async (_, body, headers, fault) => {
      const { status, json } = await taker.post('/v1/batch', body, headers)
      expect([status, json.accepted, json.refused]).toEqual([207, 2, 2])
      const faults = json.items.map(({ errors }: { errors?: object[] }) => errors?.[0])
      expect(faults).toEqual([
        fault,
        undefined,
        { pointer: '/2/process', detail: 'must have at most 250 characters' },
        undefined,
      ])
      expect(await kindsOf(json.items)).toEqual(['start', 'start'])
    })
  })

  test.each<[string, Record<string, string>]>([
    [`[${'['.repeat(200_000)}`, {}],
    [`${`${'['.repeat(4000)}\n`.repeat(51)}`, LINES],
  ])('with more values than a thousand events hold it is refused before it is parsed', async (body, headers) => {
    const { status, json } = await app.post('/v1/batch', body, headers)
    expect([status, json.errors]).toEqual([422, [{ pointer: '', detail: 'must hold at most 200000 values' }]])
  })

  test('in all events: 422, and nothing is accepted', async () => {
    const { status, json } = await app.post('/v1/batch', [{ kind: 'start' }, { kind: 'end', process: '' }])
    expect(status).toBe(422)
    expect(json.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(['/0/process', '/1/process'])
    expect(json.items).toEqual([
      {
        status: 422,
        code: 'fields_invalid',
        detail: 'The event is invalid.',
        errors: [{ pointer: '/0/process', detail: 'is required' }],
      },
      {
        status: 422,
        code: 'fields_invalid',
        detail: 'The event is invalid.',
        errors: [{ pointer: '/1/process', detail: 'must not be empty' }],
      },
    ])
    expect(await app.events()).toEqual([])
  })

  test('at most a hundred faults are reported', async () => {
    const { json } = await app.post('/v1/batch', Array(1000).fill({ kind: 'start' }))
    expect(json.errors).toHaveLength(100)
    expect(json.items).toHaveLength(1000)
    expect(json.items[999]).toEqual({
      status: 422,
      code: 'fields_invalid',
      detail: 'The event is invalid. 1 of its faults are not listed.',
    })
  })

  test('many faults cost no more than their events: 999 invalid ones with 50 faults each', async () => {
    const items = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`a${i}`, '']))
    const bad = { kind: 'metrics', process: 'p', items }
    const packed = gzipSync(JSON.stringify([EVENTS[0], ...Array(999).fill(bad)]))
    const { status, text, json } = await taker.post('/v1/batch', packed, { 'content-encoding': 'gzip' })
    expect([status, json.accepted, json.refused]).toEqual([207, 1, 999])
    expect(text.length).toBeLessThan(150_000)
    expect(json.items.flatMap((item: { errors?: object[] }) => item.errors ?? [])).toHaveLength(100)
    expect(json.items[2].detail).toBe('The event is invalid.')
    expect(json.items[3].detail).toBe('The event is invalid. 50 of its faults are not listed.')
  })

  test.each<[string, string | Uint8Array, Record<string, string>, string]>([
    ['no list', '{"kind":"start","process":"p"}', {}, 'fields_invalid'],
    ['an empty list', '[]', {}, 'fields_invalid'],
    ['no line', '\n\r\n', LINES, 'fields_invalid'],
    ['nothing', '', {}, 'json_malformed'],
    ['an array that is cut', '[{"kind":"start","process":"p"}', {}, 'json_malformed'],
    ['no gzip', '[]', { 'content-encoding': 'gzip' }, 'json_malformed'],
    ['half a gzip', gzipSync(JSON.stringify(EVENTS)).subarray(0, 40), { 'content-encoding': 'gzip' }, 'json_malformed'],
    ['no zstd', gzipSync('[]'), { 'content-encoding': 'zstd' }, 'json_malformed'],
    ['a coding that is unknown', '[]', { 'content-encoding': 'br' }, 'content_type_unsupported'],
    ['two codings', gzipSync('[]'), { 'content-encoding': 'gzip, gzip' }, 'content_type_unsupported'],
    ['another type', '[]', { 'content-type': 'text/plain' }, 'content_type_unsupported'],
  ])('%s: 422', async (_, body, headers, code) => {
    const answer = await app.post('/v1/batch', body, headers)
    expect([answer.status, answer.json.code]).toEqual([422, code])
    expect(await app.events()).toEqual([])
  })
})

describe('an incomplete compressed batch', () => {
  const MANY = toLines(Array.from({ length: 1000 }, (_, i) => ({ kind: 'start', process: 'z', uid: `u-${i}` })))
  const [one, two] = [MANY.slice(0, 20_000), MANY.slice(20_000)]
  const join = (...parts: Uint8Array[]) => Buffer.concat(parts)
  describe.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ] as const)('in %s', (coding, pack) => {
    const whole = pack(MANY)
    const damaged = join(pack(one), pack(two))
    damaged[pack(one).length]! ^= 1
    test.each<[string, Uint8Array]>([
      ['without its last byte', whole.subarray(0, -1)],
      ['cut in its middle', whole.subarray(0, whole.length / 2)],
      ['cut after ten bytes', whole.subarray(0, 10)],
      ['of no bytes', new Uint8Array()],
      ['with something else behind it', join(whole, Buffer.from('junk'.repeat(10)))],
      ['with a second part that is cut', join(pack(one), pack(two).subarray(0, -1))],
      ['with a second part that is cut in its head', join(pack(one), pack(two).subarray(0, 3))],
      ['with a second part that is damaged', damaged],
    ])('%s: 422, and nothing is accepted', async (_, body) => {
      const answer = await app.post('/v1/batch', body, { ...LINES, 'content-encoding': coding })
      expect([answer.status, answer.json.code]).toEqual([422, 'json_malformed'])
      expect(answer.json.errors).toEqual([{ pointer: '', detail: `is not valid ${coding}` }])
      expect(await app.events()).toEqual([])
    })

    test('is accepted in two gzip members', async () => {
      const body = join(pack(one), pack(two))
      const answer = await taker.post('/v1/batch', body, { ...LINES, 'content-encoding': coding })
      expect([answer.status, answer.json.accepted]).toEqual([201, 1000])
    })
  })
})

describe('a batch that is too large', () => {
  const MIB = 2 ** 20
  test.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ] as const)('when decompressed from %s: 413, with little memory', async (coding, pack) => {
    const part = pack(Buffer.alloc(MIB, ' '))
    const bomb = Buffer.concat(Array<Uint8Array>(512).fill(part)) // less than a MiB
    expect(bomb.length).toBeLessThan(MIB)
    Bun.gc(true)
    const before = process.memoryUsage().rss
    const answer = await taker.post('/v1/batch', bomb, { 'content-encoding': coding })
    expect([answer.status, answer.json.code]).toEqual([413, 'body_too_large'])
    expect(process.memoryUsage().rss - before).toBeLessThan(128 * MIB)
    expect((await taker.post('/v1/batch', EVENTS)).status).toBe(201)
  })

  test('when received, with its length or without', async () => {
    const body = `[${' '.repeat(4 * MIB)}]`
    expect((await app.post('/v1/batch', body)).status).toBe(413)
    const stream = new ReadableStream({
      start: (c) => {
        c.enqueue(new TextEncoder().encode(body))
        c.close()
      },
    })
    const answer = await app.fetch('/v1/batch', {
      method: 'POST',
      key: app.keys.owner,
      headers: { 'content-type': 'application/json' },
      body: stream,
    })
    expect(answer.status).toBe(413)
  })
})

test('a repeated batch with own times has the same events with the same stamps', async () => {
  await using app = await startApp()
  const at = new Date(app.clock.wallUs() / 1000 - 60_000).toISOString()
  const events = EVENTS.map((event) => ({ ...event, at }))
  const first = await app.post('/v1/batch', events)
  const again = await app.post('/v1/batch', toLines(events), LINES)
  expect([first.status, again.status]).toEqual([201, 201])
  expect(again.json).toEqual(first.json)
  const alone = await app.post('/v1/exception', { process: 'b', exception: 'x\ny', at })
  expect(alone.json).toEqual(first.json.items[2])
})

test('with one spool full, events for the other are accepted: 207 with 503 for the rest', async () => {
  await using app = await startApp({ spoolMaxBytes: 300_000 })
  await fillExceptions(app)
  const { status, json, headers } = await app.post('/v1/batch', EVENTS)
  expect(status).toBe(207)
  expect(json.items.map((item: { status?: number }) => item.status)).toEqual([undefined, undefined, 503, undefined])
  expect(json.items[2]).toMatchObject({ code: 'spool_full' })
  expect(headers.get('content-type')).toBe('application/json')
  expect(headers.get('retry-after')).toBe('5')
  const alone = await app.post('/v1/batch', [EVENTS[2], EVENTS[2]])
  expect([alone.status, alone.json.code, alone.headers.get('retry-after')]).toEqual([503, 'spool_full', '5'])
})

describe('a large array', () => {
  const event = (i: number) => ({ kind: 'start', process: `[{"a,b\\]}`, meta: 'é'.repeat(i % 90), uid: `u${i}` })
  const MANY = Array.from({ length: 1000 }, (_, i) => event(i))

  test('is accepted whole, in order', async () => {
    await using app = await startApp()
    const body = `\ufeff \n[${MANY.map((one) => ` ${JSON.stringify(one)}\n`).join(',')}] \r\n`
    expect((await app.post('/v1/batch', body)).json).toMatchObject({ accepted: 1000, refused: 0 })
    const uids = (await app.events()).map((one) => one.kind === 'start' && one.uid)
    expect(uids).toEqual(MANY.map(({ uid }) => uid))
  })

  test.each<[string, (text: string) => string]>([
    ['an element is missing at the end', (text) => `${text.slice(0, -1)},]`],
    [
      'an element is missing in the middle',
      (text) => text.replace('},{"kind":"start","process":"[{\\"a,b\\\\]}","meta":"é', '},,{"meta":"'),
    ],
    ['the last element is missing', () => `[{"kind":"start","process":"p"}${' '.repeat(70_000)},]`],
    ['it is not closed', (text) => text.slice(0, -1)],
    ['something follows', (text) => `${text}0`],
    ['a bracket too many follows', (text) => `${text}]`],
    ['a bracket does not fit', (text) => `${text.slice(0, -2)}]]`],
    ['a string is not closed', (text) => `${text.slice(0, -2)},"a":"}]`],
    ['a byte order mark is inside', (text) => text.replace('},{', '},\ufeff{')],
  ])('when %s nothing is accepted', async (_, damage) => {
    const whole = JSON.stringify(MANY)
    expect(damage(whole)).not.toBe(whole)
    const { status, json } = await app.post('/v1/batch', damage(whole))
    expect([status, json.code]).toEqual([422, 'json_malformed'])
    expect(await app.events()).toEqual([])
  })
})

describe('events that a spool rejects while others of their batch still wait for room', () => {
  const uncaught: unknown[] = []
  const note = (reason: unknown) => void uncaught.push(reason)
  beforeEach(() => process.on('unhandledRejection', note))
  afterEach(() => process.off('unhandledRejection', note))
  const MANY = Array.from({ length: 1000 }, () => ({ kind: 'exception', process: 'b', exception: 'x' }))

  test('are answered, and none is logged as a bug', async () => {
    await using app = await startApp({ spoolMaxBytes: 300_000 })
    await fillExceptions(app)
    const { status, json } = await app.post('/v1/batch', MANY)
    expect([status, json.code, json.items.length]).toEqual([503, 'spool_full', 1000])
    expect(uncaught.splice(0)).toEqual([])
  })

  test('by a spool that was closed get 503: Stint is stopping, and the disk is not to blame', async () => {
    await using app = await startApp()
    await app.spools.exceptions.close()
    const { status, json, headers } = await app.post('/v1/batch', MANY)
    expect([status, json.code, headers.get('retry-after')]).toEqual([503, 'stopping', '5'])
    expect((await app.post('/v1/exception', { process: 'b', exception: 'x' })).json.code).toBe('stopping')
    expect(uncaught.splice(0)).toEqual([])
  })
})
