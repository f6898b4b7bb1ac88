// OTLP as the SDKs send it and as anybody may, seen by the real intake.
import { describe, expect, test } from 'bun:test'
import type { Event } from '../../../src/event/event.ts'
import { formatTime, timeUs } from '../../../src/event/stamp.ts'
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
    expect(await eventsOf(process)).toHaveLength(10_002)
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
  const answer = await app.post('/otlp/v1/logs', {
    resourceLogs: [
      {
        resource: { attributes: strings({ 'service.name': 'logs' }) },
        scopeLogs: [{ logRecords: [record(9), record(17), record(9, raised)] }],
      },
    ],
  })
  expect(answer.json).toEqual({})
  const found = (await eventsOf('logs')) as { exception: string; uid?: string }[]
  expect(found.map(({ exception, uid }) => [exception, uid]).sort()).toEqual([
    ['E\n  at main', 'abcdef0123456789'],
    ['at 17', undefined],
  ])
})

test('gauges and sums are metrics, named with their attributes; histograms are rejected', async () => {
  const timeUnixNano = ns(nowUs())
  const answer = await app.post('/otlp/v1/metrics', {
    resourceMetrics: [
      {
        resource: { attributes: strings({ 'service.name': 'gauges' }) },
        scopeMetrics: [
          {
            metrics: [
              { name: 'heat', gauge: { dataPoints: [{ timeUnixNano, asDouble: 1.5 }] } },
              {
                name: 'hits',
                sum: {
                  dataPoints: [
                    { timeUnixNano, asInt: '7', attributes: strings({ path: '/a', host: 'x' }) },
                    { timeUnixNano, asInt: 8, attributes: strings({ path: '/b', host: 'x' }) },
                  ],
                },
              },
              { name: 'slow', histogram: { dataPoints: [{ timeUnixNano }, { timeUnixNano }] } },
            ],
          },
        ],
      },
    ],
  })
  expect(answer.json).toEqual({
    partialSuccess: { rejectedDataPoints: '2', errorMessage: 'only gauges and sums are taken' },
  })
  const [event] = (await eventsOf('gauges')) as unknown as { items: [string, number][] }[]
  expect(Object.fromEntries(event!.items)).toEqual({ heat: 1.5, 'hits{host=x,path=/a}': 7, 'hits{host=x,path=/b}': 8 })
})

describe('the gate', () => {
  test('refuses invalid keys, scopes, paths, methods and types like /v1', async () => {
    const json = { 'content-type': 'application/json' }
    const send = (path: string, init: RequestInit & { key?: string }) =>
      app.fetch(path, { method: 'POST', headers: json, body: '{}', ...init })
    expect((await send('/otlp/v1/traces', {})).status).toBe(401)
    expect((await send('/otlp/v1/traces', { key: app.keys.reader })).status).toBe(403)
    expect((await send('/otlp/v1/spans', { key: app.keys.writer })).status).toBe(404)
    expect((await app.fetch('/otlp/v1/traces', { key: app.keys.writer })).status).toBe(405)
    expect(
      (await send('/otlp/v1/traces', { key: app.keys.writer, headers: { 'content-type': 'text/plain' } })).status,
    ).toBe(422)
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

  test.each(['[]', '[{"resourceSpans":[]}]', 'null', '1', '"x"'])(
    'refuses JSON that is not an object: %s',
    async (body) => {
      const { status, json } = await app.post('/otlp/v1/traces', body, { 'content-type': 'application/json' })
      expect([status, json.code, json.errors]).toEqual([
        422,
        'fields_invalid',
        [{ pointer: '', detail: 'must be a JSON object' }],
      ])
    },
  )

  test.each([
    ['/resourceSpans', '{"resourceSpans":5}'],
    ['/resourceSpans', '{"resourceSpans":{}}'],
    ['/resourceSpans/1', '{"resourceSpans":[{},null]}'],
    ['/resourceSpans/0/resource', '{"resourceSpans":[{"resource":"r"}]}'],
    ['/resourceSpans/0/scopeSpans/0/spans', '{"resourceSpans":[{"scopeSpans":[{"spans":{"name":"a"}}]}]}'],
    ['/resourceSpans/0/scopeSpans/0/spans/0/events/0', spansWith('"events":[1]')],
  ])('refuses JSON with another type at %s', async (pointer, body) => {
    const { status, json } = await app.post('/otlp/v1/traces', body, { 'content-type': 'application/json' })
    expect([status, json.code, json.errors]).toEqual([
      422,
      'fields_invalid',
      [{ pointer, detail: expect.stringMatching(/^must be a (list|JSON object)$/) }],
    ])
  })

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
    const brackets = `{"resourceSpans":${'['.repeat(1_000_000)}`
    const json = await app.post('/otlp/v1/traces', brackets)
    expect([json.status, json.json.errors[0].detail]).toEqual([400, 'must hold at most 1000000 values'])
    const emptyMessages = Buffer.alloc(2_000_002, Buffer.from([0x0a, 0x00]))
    const protobuf = await app.post('/otlp/v1/traces', emptyMessages, { 'content-type': 'application/x-protobuf' })
    expect([protobuf.status, protobuf.text.includes('must hold at most 1000000 fields')]).toEqual([400, true])
  })

  test('no bytes cause an internal error', async () => {
    for (let i = 0; i < 300; i++) {
      const bytes = crypto.getRandomValues(new Uint8Array(1 + (i % 60)))
      const answer = await app.post('/otlp/v1/metrics', bytes, { 'content-type': 'application/x-protobuf' })
      expect([200, 400, 422]).toContain(answer.status)
    }
    for (const body of [
      '[]',
      'null',
      '1',
      '{"resourceSpans":1}',
      '{"resourceSpans":[null,{"scopeSpans":[{"spans":[{}]}]}]}',
    ])
      expect([200, 400, 422]).toContain((await app.post('/otlp/v1/traces', body)).status)
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
