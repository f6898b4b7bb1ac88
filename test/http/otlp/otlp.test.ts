// OTLP as the SDKs send it and as anybody may, seen by the real intake.
import { describe, expect, test } from 'bun:test'
import { type Event, type Mark, markName } from '../../../src/event/event.ts'
import { formatTime, timeUs } from '../../../src/event/stamp.ts'
import { anyText, type Json } from '../../../src/http/otlp/otlp-messages.ts'
import { startApp, useApp } from '../../support/app.ts'
import { findPythonPackages, missing } from '../../support/needs.ts'

const app = await useApp()

const eventsOf = async (process: string): Promise<Event[]> =>
  (await app.events()).filter((event) => event.process === process).sort((a, b) => timeUs(a.stamp) - timeUs(b.stamp))

const ns = (us: number) => `${us}000`
const nowUs = () => Math.floor(Date.now() / 1000) * 1_000_000 + 123_457
const strings = (attributes: Record<string, string>) =>
  Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } }))
const traces = (service: string, ...spans: object[]) => ({
  resourceSpans: [{ resource: { attributes: strings({ 'service.name': service }) }, scopeSpans: [{ spans }] }],
})
const logs = (attributes: Record<string, string>, ...logRecords: object[]) => ({
  resourceLogs: [{ resource: { attributes: strings(attributes) }, scopeLogs: [{ logRecords }] }],
})
const metrics = (attributes: Record<string, string>, ...metrics: object[]) => ({
  resourceMetrics: [{ resource: { attributes: strings(attributes) }, scopeMetrics: [{ metrics }] }],
})
const spansWith = (member: string) => `{"resourceSpans":[{"scopeSpans":[{"spans":[{${member}}]}]}]}`
let ids = 0
const span = (name: string, rest: object = {}) => {
  const us = nowUs() - 10_000_000
  return {
    spanId: (++ids).toString(16).padStart(16, '0'),
    name,
    startTimeUnixNano: ns(us),
    endTimeUnixNano: ns(us + 5_000),
    ...rest,
  }
}

describe('traces', () => {
  test('a span with more exceptions than the disk takes at once is accepted whole', async () => {
    await using app = await startApp() // the others read all events again and again
    const process = '😀'.repeat(250)
    const us = nowUs() - 10_000_000
    const events = Array.from({ length: 10_000 }, (_, i) => ({
      timeUnixNano: ns(us + i),
      name: 'exception',
      attributes: strings({ 'exception.message': 'disk full' }),
    }))
    const attributes = strings({ 'stint.process': process, 'stint.meta': '😀'.repeat(500) })
    const answer = await app.post('/otlp/v1/traces', traces('', span('import', { events, attributes })))
    expect([answer.status, answer.json]).toEqual([200, {}])
    expect(await app.events()).toHaveLength(10_002)
  })

  test('each event of an export counts against the events per second of its account', async () => {
    const other = await startApp({ rateLimit: 10 })
    const statuses: number[] = []
    for (const spans of [[span('a'), span('b'), span('c'), span('d'), span('e'), span('f')], [span('g')]])
      statuses.push((await other.post('/otlp/v1/traces', traces('counted', ...spans))).status)
    other.clock.pass(1_000_000)
    statuses.push((await other.post('/otlp/v1/traces', traces('counted', span('h')))).status)
    await other.stop()
    expect(statuses).toEqual([200, 429, 200])
  })

  test('a root span is a run with its times, id and failure', async () => {
    const raised = {
      timeUnixNano: ns(nowUs() - 9_997_000),
      name: 'exception',
      attributes: strings({ 'exception.type': 'IOError', 'exception.message': 'disk full' }),
    }
    const sent = span('import', {
      parentSpanId: '',
      status: { code: 2 },
      events: [raised, { name: 'other' }],
      attributes: strings({ 'stint.meta': 'eu' }),
    })
    const answer = await app.post('/otlp/v1/traces', traces('batch', sent))
    expect([answer.status, answer.json]).toEqual([200, {}])
    const events = await eventsOf('batch import')
    expect(events).toMatchObject([
      { kind: 'start', meta: 'eu', uid: sent.spanId },
      { kind: 'exception', meta: 'eu', uid: sent.spanId, exception: 'IOError: disk full' },
      { kind: 'end', meta: 'eu', uid: sent.spanId, failed: true },
    ])
    expect(timeUs(events[2]!.stamp) - timeUs(events[0]!.stamp)).toBe(5_000)
    expect(ns(timeUs(events[0]!.stamp))).toBe(sent.startTimeUnixNano)
    expect(formatTime(events[0]!.stamp)).toEndWith('000Z')
  })

  test('other spans are runs only if they name a process', async () => {
    const child = { parentSpanId: 'aaaaaaaaaaaaaaaa' }
    const named = { ...child, attributes: strings({ 'stint.process': 'named' }) }
    const answer = await app.post('/otlp/v1/traces', traces('web', span('query', child), span('query', named)))
    expect(answer.json).toEqual({})
    expect((await eventsOf('named')).map(({ kind }) => kind)).toEqual(['start', 'end'])
    expect(await eventsOf('web query')).toEqual([])
  })

  test('stores a repeated export once', async () => {
    const request = traces('batch', span('again'))
    await app.post('/otlp/v1/traces', request)
    await app.post('/otlp/v1/traces', request)
    const stamps = (await eventsOf('batch again')).map(({ kind, stamp }) => `${kind} ${stamp.us} ${stamp.sub}`)
    expect(new Set(stamps).size).toBe(2)
  })

  test('refused spans are counted, and the others accepted', async () => {
    const old = { startTimeUnixNano: '1000000000000000000', endTimeUnixNano: '1000000001000000000' }
    const answer = await app.post('/otlp/v1/traces', traces('part', span('good'), span('old', old), { name: 'empty' }))
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({
      partialSuccess: { rejectedSpans: '2', errorMessage: expect.stringContaining('at ') },
    })
    expect(await eventsOf('part good')).toHaveLength(2)
  })

  test('refused spans are counted in protobuf, too', async () => {
    const emptySpan = Uint8Array.of(0x0a, 4, 0x12, 2, 0x12, 0)
    const answer = await fetch(`${app.url}/otlp/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-protobuf', 'x-stint-api-key': app.keys.writer },
      body: emptySpan,
    })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/x-protobuf'])
    const why = 'a span needs an id, a start and an end'
    const partial = [0x08, 1, 0x12, why.length, ...Buffer.from(why)]
    expect([...new Uint8Array(await answer.arrayBuffer())]).toEqual([0x0a, partial.length, ...partial])
  })

  test('truncates and accepts any name', async () => {
    const answer = await app.post('/otlp/v1/traces', traces('long', span(`"%'\u0007${'😀'.repeat(400)}\ud800`)))
    expect(answer.json).toEqual({})
  })
})

test('log records from ERROR on are exceptions', async () => {
  const record = (severityNumber: number, rest: object = {}) => ({
    timeUnixNano: ns(nowUs()),
    severityNumber,
    body: { stringValue: `at ${severityNumber}` },
    ...rest,
  })
  const raised = {
    attributes: strings({ 'exception.type': 'E', 'exception.stacktrace': 'E\n  at main' }),
    spanId: 'ABCDEF0123456789',
  }
  const request = logs({ 'service.name': 'logs' }, record(9), record(17), record(9, raised))
  const answer = await app.post('/otlp/v1/logs', request)
  expect(answer.json).toEqual({})
  const found = (await eventsOf('logs')) as { exception: string; uid?: string }[]
  expect(found.map(({ exception, uid }) => [exception, uid]).sort()).toEqual([
    ['at 17', undefined],
    ['at 9\nE\n  at main', 'abcdef0123456789'],
  ])
})

test('gauges and sums are metrics, named with their attributes; histograms are rejected', async () => {
  const timeUnixNano = ns(nowUs())
  const hit = (path: string, asInt: unknown) => ({ timeUnixNano, asInt, attributes: strings({ path, host: 'x' }) })
  const request = metrics(
    { 'service.name': 'gauges' },
    { name: 'heat', gauge: { dataPoints: [{ timeUnixNano, asDouble: 1.5 }] } },
    { name: 'hits', sum: { dataPoints: [hit('/a', '7'), hit('/b', 8)] } },
    { name: 'slow', histogram: { dataPoints: [{ timeUnixNano }, { timeUnixNano }] } },
  )
  const answer = await app.post('/otlp/v1/metrics', request)
  expect(answer.json).toEqual({
    partialSuccess: { rejectedDataPoints: '2', errorMessage: 'only gauges and sums are taken' },
  })
  const [event] = (await eventsOf('gauges')) as unknown as { items: [string, number][] }[]
  expect(Object.fromEntries(event!.items)).toEqual({ heat: 1.5, 'hits{host=x,path=/a}': 7, 'hits{host=x,path=/b}': 8 })
})

describe('what other encoders write', () => {
  const exceptionsOf = async (process: string) =>
    (await eventsOf(process)).map((event) => (event as unknown as { exception: string }).exception)
  const any = (value: unknown): object =>
    Array.isArray(value)
      ? { arrayValue: { values: value.map(any) } }
      : typeof value === 'object' && value !== null
        ? { kvlistValue: { values: Object.entries(value).map(([key, one]) => ({ key, value: any(one) })) } }
        : value === null
          ? {}
          : typeof value === 'number' || typeof value === 'bigint'
            ? { intValue: String(value) }
            : { [`${typeof value === 'string' ? 'string' : 'bool'}Value`]: value }

  test('times may be numbers', async () => {
    const us = Math.floor(nowUs() / 1e6) * 1e6 - 20_000_000
    const timeUnixNano = us * 1000
    const sent = span('s', { startTimeUnixNano: timeUnixNano, endTimeUnixNano: timeUnixNano + 1e9 })
    const service = { 'service.name': 'numbers' }
    const record = { timeUnixNano, severityNumber: 17, body: any('full') }
    const point = { timeUnixNano, asInt: 2 ** 60 }
    const answers = [
      await app.post('/otlp/v1/traces', traces('numbers', sent)),
      await app.post('/otlp/v1/logs', logs(service, record)),
      await app.post('/otlp/v1/metrics', metrics(service, { name: 'm', gauge: { dataPoints: [point] } })),
    ]
    expect(answers.map(({ json }) => json)).toEqual([{}, {}, {}])
    const times = [...(await eventsOf('numbers s')), ...(await eventsOf('numbers'))].map(({ stamp }) => timeUs(stamp))
    expect(times).toEqual([us, us + 1_000_000, us, us])
  })

  test.each([
    ['STATUS_CODE_ERROR', 'failed'],
    ['STATUS_CODE_OK', 'end'],
  ])('the status %s', async (code, mark) => {
    await app.post('/otlp/v1/traces', traces(code, span('s', { status: { code } })))
    expect<string>(markName((await eventsOf(`${code} s`)).at(-1) as Mark)).toBe(mark)
  })

  test.each([
    ['ERROR', 1],
    ['err', 1],
    ['Critical', 1],
    ['panic', 1],
    ['Information', 0],
    ['WARN2', 0],
  ])('the severity by the text %s alone', async (severityText, stored) => {
    const record = { timeUnixNano: ns(nowUs()), severityText, body: any('full') }
    const { json } = await app.post('/otlp/v1/logs', logs({ 'service.name': severityText }, record))
    expect(json).toEqual({})
    expect(await exceptionsOf(severityText)).toEqual(Array(stored).fill('full'))
  })

  test.each([{}, { severityNumber: 0 }, { severityText: 'loud' }])('no severity is counted: %j', async (severity) => {
    const record = { timeUnixNano: ns(nowUs()), ...severity, body: any('full') }
    const { json } = await app.post('/otlp/v1/logs', logs({ 'service.name': 'none' }, record))
    expect(json.partialSuccess).toMatchObject({ rejectedLogRecords: '1' })
  })

  test.each([
    ['SEVERITY_NUMBER_ERROR', 1],
    ['SEVERITY_NUMBER_FATAL4', 1],
    ['SEVERITY_NUMBER_WARN4', 0],
  ])('the severity %s', async (severityNumber, stored) => {
    const record = { timeUnixNano: ns(nowUs()), severityNumber, body: any('full') }
    await app.post('/otlp/v1/logs', logs({ 'service.name': severityNumber }, record))
    expect(await exceptionsOf(severityNumber)).toEqual(Array(stored).fill('full'))
  })

  test.each([
    ['unknown_service', {}],
    ['unknown_service:node', { 'service.name': 'unknown_service:node' }],
  ])('a resource that names no service is %s', async (process, attributes) => {
    const timeUnixNano = ns(nowUs())
    const point = { name: 'm', gauge: { dataPoints: [{ timeUnixNano, asInt: 1 }] } }
    const record = { timeUnixNano, severityNumber: 17, body: any('full') }
    expect((await app.post('/otlp/v1/metrics', metrics(attributes, point))).json).toEqual({})
    expect((await app.post('/otlp/v1/logs', logs(attributes, record))).json).toEqual({})
    expect((await eventsOf(process)).map(({ kind }) => kind).sort()).toEqual(['exception', 'metrics'])
  })

  test('lists and maps are plain JSON, in bodies and in the names of metrics', async () => {
    const timeUnixNano = ns(nowUs())
    const nested = { a: 1, list: ['x', true, null, { b: [] }], long: 2n ** 62n }
    const bodies = [
      any(nested),
      any([1, 'two']),
      { stringValue: { toString: 1 } },
      { arrayValue: {} },
      any(Array(20_000).fill(1)),
    ]
    const records = bodies.map((body) => ({ timeUnixNano, severityNumber: 17, body }))
    const point = { timeUnixNano, asInt: 1, attributes: [{ key: 'k', value: any({ a: [1] }) }] }
    const service = { 'service.name': 'plain' }
    const answer = await app.post('/otlp/v1/logs', logs(service, ...records))
    expect(answer.json.partialSuccess.rejectedLogRecords).toBe('1')
    await app.post('/otlp/v1/metrics', metrics(service, { name: 'm', gauge: { dataPoints: [point] } }))
    const texts = (await exceptionsOf('plain')).filter((text) => text !== undefined).sort()
    expect(texts).toEqual(
      [
        '[1,"two"]',
        '[]',
        `[${'1,'.repeat(7_500)}`.slice(0, 15_000),
        JSON.stringify({ ...nested, long: String(nested.long) }),
      ].sort(),
    )
    expect((await eventsOf('plain')).filter(({ kind }) => kind === 'metrics')).toMatchObject([
      { items: [['m{k={_a_:[1]}}', 1]] },
    ])
  })

  test('of a large value, no more is read than the longest text can hold', () => {
    let deep: unknown = 'x'
    for (let i = 0; i < 40; i++) deep = [deep]
    expect(anyText(any(deep) as Json)).toBe(`${'['.repeat(32)}"…"${']'.repeat(32)}`)
    expect(anyText(any(Array(20_000).fill([])) as Json)).toBe(JSON.stringify(Array(7_500).fill([])))
  })

  test('an error without a readable body has the name of its event, or its bytes', async () => {
    const base64 = (bytes: string) => ({ bytesValue: Buffer.from(bytes, 'latin1').toString('base64') })
    const records = [{ eventName: 'payment.failed' }, { body: base64('disk full') }, { body: base64('\xff\x00') }]
    const record = (rest: object) => ({ timeUnixNano: ns(nowUs()), severityNumber: 17, ...rest })
    const answer = await app.post('/otlp/v1/logs', logs({ 'service.name': 'bytes' }, ...records.map(record)))
    expect(answer.json).toEqual({})
    expect((await exceptionsOf('bytes')).sort()).toEqual(['/wA=', 'disk full', 'payment.failed'])
    const at = (field: number, ...bytes: number[]) => [field * 8 + 2, bytes.length, ...bytes]
    const [severity, bytes, name] = [[16, 17], at(5, ...at(7, 104, 105)), at(12, 98, 121, 101)]
    const both = [...at(2, ...severity, ...bytes), ...at(2, ...severity, ...name)]
    const type = { 'content-type': 'application/x-protobuf' }
    await app.post('/otlp/v1/logs', Buffer.from(at(1, ...at(2, ...both))), type)
    expect((await exceptionsOf('unknown_service')).filter((text) => text === 'hi' || text === 'bye')).toHaveLength(2)
  })

  test.each([
    ['no body', {}],
    ['a blank body', { body: any(' ') }],
  ])('an error with %s is refused', async (name, rest) => {
    const record = { timeUnixNano: ns(nowUs()), severityNumber: 17, ...rest }
    const { json } = await app.post('/otlp/v1/logs', logs({ 'service.name': name }, record))
    expect(json.partialSuccess).toEqual({
      rejectedLogRecords: '1',
      errorMessage: 'a log record needs a text: a body, exception.message or an event name',
    })
    expect(await eventsOf(name)).toEqual([])
  })

  test('a span that ends before its start is refused whole', async () => {
    const startTimeUnixNano = ns(nowUs())
    const { json } = await app.post('/otlp/v1/traces', traces('back', span('s', { startTimeUnixNano })))
    expect(json.partialSuccess).toEqual({
      rejectedSpans: '1',
      errorMessage: 'a span is refused: its end is before its start',
    })
    expect(await eventsOf('back s')).toEqual([])
  })

  test('the description of a failed span is its exception, unless an event brought one', async () => {
    const status = { code: 2, message: 'no rows today' }
    const event = { name: 'exception', attributes: strings({ 'exception.message': 'row 3' }) }
    const fine = { status: { code: 1, message: 'no rows today' } }
    const spans = [span('bare', { status }), span('raised', { status, events: [event] }), span('fine', fine)]
    await app.post('/otlp/v1/traces', traces('described', ...spans))
    const texts = async (name: string) => (await exceptionsOf(`described ${name}`)).filter((text) => text !== undefined)
    expect([await texts('bare'), await texts('raised'), await texts('fine')]).toEqual([
      ['no rows today'],
      ['row 3'],
      [],
    ])
  })

  test('the body of a log record stands above its stack trace, unless that has it', async () => {
    const stack = 'ValueError: row 3 is bad\n  at load (import.ts:3:1)'
    const attributes = strings({ 'exception.message': 'row 3 is bad', 'exception.stacktrace': stack })
    const record = { timeUnixNano: ns(nowUs()), severityNumber: '17', attributes }
    const records = ['import failed for a.csv', 'row 3 is bad'].map((body) => ({ ...record, body: any(body) }))
    await app.post('/otlp/v1/logs', logs({ 'service.name': 'beside' }, ...records))
    expect((await exceptionsOf('beside')).sort()).toEqual([stack, `import failed for a.csv\n${stack}`])
  })

  test('numbers may be texts', async () => {
    const points = ['1.5', '-2e3', 'NaN', '1,5'].map((asDouble, i) => ({ timeUnixNano: ns(nowUs() + i), asDouble }))
    const answer = await app.post(
      '/otlp/v1/metrics',
      metrics({ 'service.name': 'texts' }, { name: 'm', gauge: { dataPoints: points } }),
    )
    expect(answer.json.partialSuccess.rejectedDataPoints).toBe('2')
    const stored = (await eventsOf('texts')).flatMap((event) => (event.kind === 'metrics' ? event.items : []))
    expect(stored).toEqual([
      ['m', 1.5],
      ['m', -2000],
    ])
  })

  test('an exception of a span without attributes has a text', async () => {
    await app.post('/otlp/v1/traces', traces('bare', span('s', { events: [{ name: 'exception' }] })))
    expect((await exceptionsOf('bare s')).filter((text) => text !== undefined)).toEqual(['exception'])
  })
})

describe('the gate', () => {
  test('refuses unknown paths and types like /v1', async () => {
    expect((await app.post('/otlp/v1/spans', '{}')).status).toBe(404)
    expect((await app.post('/otlp/v1/traces', '{}', { 'content-type': 'text/plain' })).status).toBe(422)
  })

  test.each([
    ['application/json', '{'],
    ['application/x-protobuf', '\x0a\x7f'],
    ['application/x-protobuf', '\x0b'],
  ])('damaged %s is refused', async (type, body) => {
    const answer = await app.post('/otlp/v1/traces', Buffer.from(body, 'latin1'), { 'content-type': type })
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([400, 'no-store'])
    if (type === 'application/json') expect(answer.json.code).toBe('otlp_malformed')
    else expect([answer.headers.get('content-type'), answer.text]).toEqual([type, expect.stringMatching(/^\x12.{10}/)])
  })

  test('a body that is not gzip is refused with that reason', async () => {
    const gzip = { 'content-encoding': 'gzip' }
    const json = await app.post('/otlp/v1/traces', 'garbage', { ...gzip, 'content-type': 'application/json' })
    expect([json.status, json.json.code, json.json.errors[0].detail]).toEqual([
      400,
      'otlp_malformed',
      expect.stringContaining('gzip'),
    ])
    const proto = await app.post('/otlp/v1/traces', 'garbage', { ...gzip, 'content-type': 'application/x-protobuf' })
    expect([proto.status, proto.text]).toEqual([400, expect.stringContaining('gzip')])
  })

  test('every refusal of protobuf is a Status, in the words of the problem', async () => {
    const headers = { 'content-type': 'application/x-protobuf' }
    const unknown = await app.fetch('/otlp/v1/logs', { method: 'POST', headers, key: 'stint_unknown', body: '' })
    expect([unknown.status, unknown.headers.get('content-type'), unknown.headers.has('www-authenticate')]).toEqual([
      401,
      'application/x-protobuf',
      true,
    ])
    const message = 'Send a valid API key in the header x-stint-api-key.'
    expect(unknown.text).toBe(`\x12${String.fromCharCode(message.length)}${message}`)
  })

  test.each([
    ['', '[]'],
    ['', 'null'],
    ['', '1'],
    ['/resourceSpans', '{"resourceSpans":5}'],
    ['/resourceSpans', '{"resourceSpans":{}}'],
    ['/resourceSpans/1', '{"resourceSpans":[{},null]}'],
    ['/resourceSpans/0/resource', '{"resourceSpans":[{"resource":"r"}]}'],
    ['/resourceSpans/0/scopeSpans/0/spans', '{"resourceSpans":[{"scopeSpans":[{"spans":{"name":"a"}}]}]}'],
    ['/resourceSpans/0/scopeSpans/0/spans/0/events/0', spansWith('"events":[1]')],
  ])('refuses JSON with another type at %j', async (pointer, body) => {
    const { status, json } = await app.post('/otlp/v1/traces', body, { 'content-type': 'application/json' })
    expect([status, json.code, json.errors]).toEqual([
      422,
      'fields_invalid',
      [{ pointer, detail: expect.stringMatching(/^must be a (list|JSON object)$/) }],
    ])
  })

  test.each([
    ['/resource_spans', '{"resource_spans":[{"scope_spans":[{"spans":[]}]}]}', 'resourceSpans'],
    [
      '/resourceSpans/0/instrumentationLibrarySpans',
      '{"resourceSpans":[{"resource":{},"instrumentationLibrarySpans":[{"spans":[]}]}]}',
      'scopeSpans',
    ],
    ['/resourceSpans/0/scopeSpans/0/span', '{"resourceSpans":[{"scopeSpans":[{"scope":{},"span":[{}]}]}]}', 'spans'],
  ])('refuses data in the unknown member %s', async (pointer, body, name) => {
    const { status, json } = await app.post('/otlp/v1/traces', body)
    const detail = `is not known; the data is expected in ${name}`
    expect([status, json.errors]).toEqual([422, [{ pointer, detail }]])
  })

  test('names the first member in snake_case of a span without an id', async () => {
    const { json } = await app.post('/otlp/v1/traces', traces('snake', { span_id: '0a', name: 's' }))
    expect(json.partialSuccess.errorMessage).toContain('span_id is not known, names are in lowerCamelCase')
  })

  test('stores nothing of an export with a part of another type', async () => {
    const spans = [span('first'), { ...span('second'), events: [1] }]
    expect((await app.post('/otlp/v1/traces', traces('half', ...spans))).status).toBe(422)
    expect(await eventsOf('half first')).toEqual([])
  })

  test.each(['/otlp', '/otlp/', '/otlp/v1/traces/', '/otlp/v1/traces/v1/traces', '/v1/traces'])(
    'the address %s is refused with the right one',
    async (path) => {
      const { status, json } = await app.post(path, '{"resourceSpans":[]}')
      expect([status, json.detail]).toEqual([404, expect.stringContaining('/otlp/v1/traces')])
    },
  )

  test('takes null and odd attributes as absent, unknown members, and values nested without end', async () => {
    const deep = `${'{"arrayValue":{"values":['.repeat(2000)}${']}}'.repeat(2000)}`
    for (const body of [
      '{"resourceSpans":null}',
      '{"resourceSpans":[{"resource":null,"scopeSpans":[{"spans":null,"x":5}]}]}',
      spansWith(`"attributes":[{"key":"a","value":${deep}}]`),
      spansWith('"attributes":["a"]'),
      spansWith('"attributes":{}'),
    ])
      expect((await app.post('/otlp/v1/traces', body)).status).toBe(200)
  })

  test('reads the first 1,000 attributes of an item', async () => {
    const others = Object.fromEntries(Array.from({ length: 999 }, (_, i) => [`a${i}`, 'x']))
    const late = span('late', { attributes: strings({ ...others, a999: 'x', 'stint.meta': 'm' }) })
    const last = span('last', { attributes: strings({ ...others, 'stint.meta': 'm' }) })
    expect((await app.post('/otlp/v1/traces', traces('many', late, last))).status).toBe(200)
    const metas = async (process: string) => (await eventsOf(process)).map(({ meta }) => meta)
    expect([await metas('many late'), await metas('many last')]).toEqual([
      ['', ''],
      ['m', 'm'],
    ])
  })

  test('refuses what would become millions of objects, before it has become them', async () => {
    const brackets = `{"resourceSpans":${'['.repeat(500_000)}`
    const json = await app.post('/otlp/v1/traces', brackets)
    expect([json.status, json.json.errors[0].detail]).toEqual([400, 'must hold at most 500000 values'])
    const emptyMessages = Buffer.alloc(1_000_002, Buffer.from([0x0a, 0x00]))
    const protobuf = await app.post('/otlp/v1/traces', emptyMessages, { 'content-type': 'application/x-protobuf' })
    expect([protobuf.status, protobuf.text.includes('must hold at most 500000 fields')]).toEqual([400, true])
  })

  test('no bytes cause an internal error', async () => {
    for (let i = 0; i < 300; i++) {
      const bytes = crypto.getRandomValues(new Uint8Array(1 + (i % 60)))
      const answer = await app.post('/otlp/v1/metrics', bytes, { 'content-type': 'application/x-protobuf' })
      expect([200, 400, 422]).toContain(answer.status)
    }
  })
})

describe.each(['proto', 'http'])('the JavaScript SDK by %s', (encoding) => {
  test('sends a failed run with its exception', async () => {
    const { TracerProvider, BatchSpanProcessor } = await import('@opentelemetry/sdk-trace')
    const { OTLPTraceExporter } =
      encoding === 'proto'
        ? await import('@opentelemetry/exporter-trace-otlp-proto')
        : await import('@opentelemetry/exporter-trace-otlp-http')
    const exporter = new OTLPTraceExporter({
      url: `${app.url}/otlp/v1/traces`,
      headers: { 'x-stint-api-key': app.keys.writer },
      compression: 'gzip' as never,
    })
    const provider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] })
    const root = provider.getTracer('test').startSpan(`sdk ${encoding}`)
    root.recordException(new Error('of the SDK'))
    root.setStatus({ code: 2 })
    root.end()
    await provider.shutdown()
    const events = await eventsOf(`sdk ${encoding}`)
    expect(events.map(({ kind }) => kind)).toEqual(['start', 'exception', 'end'])
    expect(events[1]).toMatchObject({
      exception: expect.stringContaining('Error: of the SDK'),
      uid: root.spanContext().spanId,
    })
    expect(events[2]).toMatchObject({ failed: true, uid: root.spanContext().spanId })
  })
})

test.skipIf(missing('python-packages') !== undefined)(
  'the Python SDK sends a run, a metric and a failure',
  async () => {
    const code = `
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter

resource = Resource.create({"service.name": "py"})
tracing = TracerProvider(resource=resource)
tracing.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
metering = MeterProvider(resource=resource, metric_readers=[PeriodicExportingMetricReader(OTLPMetricExporter())])
metering.get_meter("m").create_counter("rows").add(3)
tracer = tracing.get_tracer("t")
try:
    with tracer.start_as_current_span("job"):
        with tracer.start_as_current_span("child"):
            pass
        raise OSError("disk full")
except OSError:
    pass
tracing.shutdown()
metering.shutdown()
`
    const { PATH = '', HOME = '' } = process.env
    const child = Bun.spawn([findPythonPackages()!, '-c', code], {
      env: {
        PATH,
        HOME,
        OTEL_EXPORTER_OTLP_ENDPOINT: `${app.url}/otlp`,
        OTEL_EXPORTER_OTLP_HEADERS: `x-stint-api-key=${app.keys.writer}`,
        OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      },
      stderr: 'pipe',
    })
    expect(await new Response(child.stderr).text()).toBe('')
    const events = await eventsOf('py job')
    expect(events.map(({ kind }) => kind)).toEqual(['start', 'exception', 'end'])
    expect(events[1]).toMatchObject({ exception: expect.stringContaining('OSError: disk full') })
    expect(events[2]).toMatchObject({ failed: true })
    expect(await eventsOf('py child')).toEqual([])
    expect(await eventsOf('py')).toMatchObject([{ kind: 'metrics', items: [['rows', 3]] }])
  },
)
