// Addresses of other products say where to go, with the status of any unknown path.
import { expect, test } from 'bun:test'
import { describeUnknownPath, FOREIGN_PATHS } from '../../src/http/foreign-paths.ts'
import { useApp } from '../support/app.ts'
import { readRepo } from '../support/readme.ts'

const app = await useApp()
const MARK = { process: 'p' }

test.each([
  ['/write?db=x', 'InfluxDB'],
  ['/api/v2/write?org=o&bucket=b', 'InfluxDB'],
  ['/api/v3/write_lp?db=x', 'InfluxDB'],
  ['/metrics/job/backup', 'Pushgateway'],
  ['/metrics/job/backup/instance/web-1', 'Pushgateway'],
  ['/metrics/job@base64/YQ==', 'Pushgateway'],
  ['/api/v1/write', 'remote write'],
  ['/api/v1/push', 'remote write'],
  ['/api/prom/push', 'remote write'],
  ['/api/4711/envelope/', 'Sentry'],
  ['/api/4711/store/', 'Sentry'],
  ['/api/4711/cron/nightly/abc/?status=ok', '/ping/TOKEN/PROCESS'],
  ['/loki/api/v1/push', 'Loki'],
  ['/_bulk', 'Elasticsearch'],
  ['/logs-2026/_doc', 'Elasticsearch'],
  ['/logs/_bulk?refresh', 'Elasticsearch'],
  ['/services/collector/event', 'Splunk'],
  ['/services/collector', 'Splunk'],
  ['/api/v1/series', 'Datadog'],
  ['/api/v2/logs', 'Datadog'],
  ['/start', '/v1/start'],
  ['/end', '/v1/end'],
  ['/exception', '/v1/exception'],
  ['/traces', '/otlp/v1/traces'],
  ['/api/v3/checks/', 'stint import healthchecks'],
  ['/api/push/abc?status=up', '/ping/TOKEN/PROCESS'],
  ['/api/v1/heartbeat/abc', '/ping/TOKEN/PROCESS'],
  ['/api/v1/endpoints/core_x/external?success=true', '/ping/TOKEN/PROCESS'],
  ['/p/key/job?state=run', '/ping/TOKEN/PROCESS'],
])('POST %s is a 404 that says %s', async (path, said) => {
  const answer = await app.fetch(path, { method: 'POST', body: 'x' })
  expect([answer.status, answer.json.code]).toEqual([404, 'not_found'])
  expect(answer.json.detail).toContain(said)
  expect(answer.json.detail).toMatch(/^There is no such path\. .* See src\/\S+\.$/)
})

test('other paths are unknown as before, and no path of Stint is in the table', async () => {
  expect((await app.fetch('/nowhere')).json.detail).toBe('There is no such path.')
  for (const { path } of app.routes) expect([path, describeUnknownPath(path)]).toEqual([path, 'There is no such path.'])
})

test.each(FOREIGN_PATHS.map(({ page }) => [page] as const))('the page %s exists', (page) => {
  const [path, anchor] = page.split('#')
  const headings = [...readRepo(path!).matchAll(/^#+ (.*)$/gm)].map(([, text]) =>
    text!
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )
  if (anchor !== undefined) expect(headings).toContain(anchor)
})

test('metrics of OpenTelemetry at /v1/metrics keep their status, and the answer says where they go', async () => {
  const protobuf = await app.post('/v1/metrics', new Uint8Array([10, 0]), { 'content-type': 'application/x-protobuf' })
  expect([protobuf.status, protobuf.json.code]).toEqual([422, 'content_type_unsupported'])
  const json = await app.post('/v1/metrics', { resourceMetrics: [] })
  expect([json.status, json.json.code]).toEqual([422, 'fields_invalid'])
  for (const { json: body } of [protobuf, json]) expect(body.detail).toEndWith('are taken at /otlp/v1/metrics.')
})

test('Authorization: Bearer is a key for writes, too; with both Stint’s header decides', async () => {
  const send = async (path: string, headers: Record<string, string>) =>
    (
      await app.fetch(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(path === '/v1/batch' ? [{ kind: 'start', ...MARK }] : path === '/v1/start' ? MARK : {}),
      })
    ).status
  const { writer, reader, revoked } = app.keys
  for (const path of ['/v1/start', '/v1/batch', '/otlp/v1/traces'] as const) {
    expect(await send(path, { authorization: `Bearer ${writer}` })).toBe(path.startsWith('/otlp') ? 200 : 201)
    expect(await send(path, { authorization: `Bearer ${reader}` })).toBe(403)
    expect(await send(path, { authorization: `Bearer ${revoked}` })).toBe(401)
    expect(await send(path, { authorization: `Basic ${writer}` })).toBe(401)
    expect(await send(path, { authorization: `Bearer ${writer}`, 'x-stint-api-key': revoked })).toBe(401)
    expect(await send(path, { authorization: `Bearer ${revoked}`, 'x-stint-api-key': writer })).not.toBe(401)
  }
})

test('questions take now, now-1h and milliseconds since the epoch', async () => {
  const ask = (query: string) => app.fetch(`/api/timings?${query}`, { key: app.keys.reader })
  const nowMs = Math.floor(app.clock.wallUs() / 1000)
  for (const query of ['from=now-1h', 'from=now-1h&to=now', `from=${nowMs - 3_600_000}&to=${nowMs}`, 'from=-1w'])
    expect([query, (await ask(query)).status]).toEqual([query, 200])
  for (const query of ['from=now-1h/d', 'from=now+1h', 'from=1795876951', 'from=tomorrow'])
    expect([query, (await ask(query)).json.errors[0].detail]).toEqual([query, expect.stringContaining('such as -90m')])
})

test('invalid JSON in a line of a batch is found by its line in the body', async () => {
  const body = '{"kind":"start","process":"p"}\n\n{"kind":"start","process":"p",}\n'
  const answer = await app.post('/v1/batch', body, { 'content-type': 'application/x-ndjson' })
  expect(answer.json.items[1].errors[0].detail).toBe(
    'is not valid JSON: line 3, column 31: a comma before a closing bracket',
  )
})
