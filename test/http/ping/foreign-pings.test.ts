// Pings in the words of other services: each line of foreign-pings.tsv, and what else their users send.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Event } from '../../../src/event/event.ts'
import { timeUs } from '../../../src/event/stamp.ts'
import { useApp } from '../../support/app.ts'
import { signUpAt } from '../../support/caller.ts'

const app = await useApp({ signup: 'open' })
const { bySession: session } = await signUpAt(app.url, 'mover@example.com')
const token: string = (await session.post('/api/keys', { name: 'cron', scopes: ['ping'] })).json.key.secret
let jobs = 0
const newJob = () => `job-${++jobs}`
const ping = (rest: string, init: RequestInit = {}) => app.fetch(`/ping/${token}/${rest}`, init)

const eventsOf = async (process: string): Promise<Event[]> =>
  (await app.events())
    .filter((event) => event.process === process)
    .sort((a, b) => timeUs(a.stamp) - timeUs(b.stamp) || a.stamp.us - b.stamp.us || a.stamp.sub - b.stamp.sub)

/** In short: `start`, `end failed`, `exception disk is full`. */
async function storedOf(process: string): Promise<string[]> {
  return (await eventsOf(process)).map((event) => {
    const more = {
      start: () => '',
      end: () => ('failed' in event && event.failed ? ' failed' : ''),
      exception: () => ` ${'exception' in event && event.exception}`,
      output: () => ` ${'output' in event && event.output}`,
      metrics: () => ` ${'items' in event && event.items.join(' ')}`,
    }[event.kind]()
    return `${event.kind}${more}`
  })
}

interface Line {
  readonly method: string
  readonly address: string
  readonly stored: string
}
const LINES = readFileSync(join(import.meta.dir, 'foreign-pings.tsv'), 'utf8')
  .trimEnd()
  .split('\n')
  .slice(1)
  .map((line): Line => {
    const [method = '', address = '', stored = ''] = line.split('\t')
    return { method, address, stored }
  })

describe.each(LINES)('$method $address stores $stored', ({ method, address, stored }) => {
  const find = (pattern: RegExp) => pattern.exec(stored)?.slice(1)

  test.each([false, true])('with a start before: %p', async (isOpen) => {
    const job = newJob()
    const [uid] = find(/of uid (\w+)/) ?? []
    const [meta] = find(/meta ([\w-]+)/) ?? []
    // a start that is sent again is the same one
    if (isOpen && stored.startsWith('start')) return
    if (isOpen) await ping(`${job}/start?rid=${uid ?? ''}&host=${meta ?? ''}`)
    const before = (await eventsOf(job)).length
    const answer = await app.fetch(address.replace('TOKEN', token).replace('/job', `/${job}`), { method })
    const events = (await eventsOf(job)).slice(before)
    if (stored.startsWith('422')) {
      expect([answer.status, events.length]).toEqual([422, 0])
      const [name] = find(/names `(\w+)`/) ?? []
      if (name !== undefined) expect(answer.json.errors[0].pointer).toBe(`/${name}`)
      expect(answer.text).not.toContain('fial')
      return
    }
    expect(answer.status).toBe(200)
    const kinds = events.map(({ kind }) => kind)
    const [kind] = find(/^(start|end|failed end|a completed run)/)!
    const marks = events.filter((event) => event.kind === 'start' || event.kind === 'end')
    expect(marks.at(-1)).toMatchObject(
      kind === 'start' ? { kind: 'start' } : kind === 'failed end' ? { kind: 'end', failed: true } : { kind: 'end' },
    )
    expect(kinds.filter((each) => each === 'start').length).toBe(
      kind === 'start' || !(isOpen || uid !== undefined) ? 1 : 0,
    )
    for (const event of events) expect(event).toMatchObject({ ...(uid && { uid }), ...(meta && { meta }) })
    const exceptions = events.flatMap((event) => (event.kind === 'exception' ? [event.exception] : []))
    expect(exceptions).toHaveLength(kind === 'failed end' ? 1 : 0)
    const [exception] = find(/exception `([^`]+)`/) ?? []
    const [code] = find(/says exit code (\d+)/) ?? []
    if (exception !== undefined && code === undefined) expect(exceptions).toEqual([exception])
    if (exception !== undefined) expect(exceptions[0]).toEndWith(exception)
    if (code !== undefined) expect(exceptions[0]).toContain(`exited with code ${code}`)
    const [output] = find(/output `([^`]+)`/) ?? []
    expect(events.flatMap((event) => (event.kind === 'output' ? [event.output] : []))).toEqual(output ? [output] : [])
    const items = stored.includes('metrics')
      ? [
          ['rows', 120],
          ['errors', 0],
        ]
      : undefined
    expect(events.flatMap((event) => (event.kind === 'metrics' ? [event.items] : []))).toEqual(
      items ? [items as never] : [],
    )
    const [seconds] = find(/run of ([\d.]+) s/) ?? []
    if (seconds !== undefined && !isOpen)
      expect(timeUs(marks[1]!.stamp) - timeUs(marks[0]!.stamp)).toBe(Number(seconds) * 1e6)
  })
})

describe('a ping', () => {
  test('of a duration takes the start that is known, of the same meta and uid alone', async () => {
    const job = newJob()
    await ping(`${job}?state=run&series=a&host=h`, {})
    await ping(`${job}?state=complete&series=a&host=h&duration=10`)
    await ping(`${job}?state=complete&series=a&host=other&duration=10`)
    const marks = (await eventsOf(job)).map((event) => `${event.kind} ${event.meta}`)
    expect(marks.sort()).toEqual(['end h', 'end other', 'start h', 'start other'])
  })

  test.each([
    ['duration=10s', 10],
    ['duration=1m30.5s', 90.5],
    ['duration=250ms', 0.25],
    ['duration=1h0m1s', 3601],
    ['duration=12.5', 12.5],
    ['ping=87', 0.087],
    ['ping=12.5', 0.0125],
    ['ping=0', 0],
  ])('with %s lasts %d s', async (parameter, seconds) => {
    const job = newJob()
    await ping(`${job}?${parameter}`)
    const [start, end] = (await eventsOf(job)).map(({ stamp }) => timeUs(stamp))
    expect(end! - start!).toBe(seconds * 1e6)
  })

  test.each<[string, RequestInit, string[]]>([
    ['', form('s=0'), ['start', 'end']],
    ['', form('s=3'), ['start', 'exception JOB: exited with code 3', 'end failed']],
    ['', form('m=just checking in'), ['start', 'end', 'output just checking in']],
    ['', form('s=1&m=no%20rows'), ['start', 'exception JOB: exited with code 1\nno rows', 'end failed']],
    ['', form('success=false&error=boom'), ['start', 'exception boom', 'end failed']],
    ['', form('status=ok rows=5'), ['start', 'end', 'output status=ok rows=5']],
    ['', form('rows=120'), ['start', 'end', 'output rows=120']],
    ['', form('state=done\nstate=fail'), ['start', 'end', 'output state=done\nstate=fail']],
    ['', form('10 files, 2 MB'), ['start', 'end', 'output 10 files, 2 MB']],
    ['', form('s=1&m=a\nb'), ['start', 'exception JOB: exited with code 1\na\nb', 'end failed']],
    ['', form('m=l1\nl2&s=1'), ['start', 'exception JOB: exited with code 1\nl1\nl2', 'end failed']],
    [
      '',
      form('m=\nhttp://h/?a=1&s=1&host=h'),
      ['start', 'exception JOB: exited with code 1\nhttp://h/?a=1', 'end failed'],
    ],
    ['', form('s=1 &m=a\r\nb\n'), ['start', 'exception JOB: exited with code 1\na\r\nb', 'end failed']],
    ...[
      'status=ok\nrows=5 & more',
      'state=ok rows=5\nstate=fail rows=6&s=1 of 2',
      'host=a GET /?id=1&status=ok&b=2\nhost=a GET /?id=2&status=ok&b=3',
      'msg="GET /?a=1&s=1" status=200\nmsg="GET /?a=2&s=1" status=200',
      'time=12:00 url=/x?a=1&state=fail\ntime=12:01 url=/x?a=1&state=fail',
      'level=error msg=x&s=1&y\nlevel=info',
      's=1\nt=2',
    ].map((log): [string, RequestInit, string[]] => ['', form(log), ['start', 'end', `output ${log}`]]),
    ['/log', form('s=3'), ['output s=3']],
    ['/0', form('s=3'), ['start', 'end', 'output s=3']],
    [
      '',
      json({ status: 'in_progress', monitor_config: { schedule: { type: 'crontab', value: '0 * * * *' } } }),
      ['start'],
    ],
    [
      '',
      json({ status: 'error', duration: 2, environment: 'production' }),
      ['start', 'exception JOB: failed', 'end failed'],
    ],
    ['', json({ status: 'error', message: 'x' }), ['start', 'exception x', 'end failed']],
    ['', json({ state: 'fail' }), ['start', 'exception JOB: failed', 'end failed']],
    ['', json({ status: 'ok', duration: null, release: 3, contexts: {} }), ['start', 'end']],
    ['', json({ status: 'done', rows: 3 }), ['start', 'end', 'output {"status":"done","rows":3}']],
    ['', json({ status: 'success', message: 'x' }), ['start', 'end', 'output {"status":"success","message":"x"}']],
    ['', json({ rows: null }), ['start', 'end', 'output {"rows":null}']],
    ['', json(['status']), ['start', 'end', 'output ["status"]']],
    ['?status=ok&check_in_id=B0A7C1D2-3E4F-4A6B-8C8D-9E0F1A2B3C4D', {}, ['end']],
    ['?state=RUN', {}, ['start']],
    ['?success=True', {}, ['start', 'end']],
    ['?1795876951', {}, ['start', 'end']],
    ['?_=1&t=2&ts=3&time=4&cb=5&nonce=6&create=1&stamp=1.5&', {}, ['start', 'end']],
    ['?msg=&ping=&rid=&host=&error=&duration=&metric=', {}, ['start', 'end']],
    ['?state=complete&message=done&env=production', {}, ['start', 'end', 'output done']],
    [
      '?state=fail&msg=a&status_code=2',
      { method: 'POST', body: 'log\n' },
      ['start', 'exception JOB: exited with code 2\na\nlog', 'end failed'],
    ],
    ['/fail?msg=why', {}, ['start', 'exception why', 'end failed']],
    ['/fail?state=fail&exit_code=7', {}, ['start', 'exception JOB: exited with code 7', 'end failed']],
    ['/start?state=run&msg=go&metric=n:1e3', {}, ['start', 'output go', 'metrics n,1000']],
    ['?s=-1', {}, ['start', 'exception JOB: exited with code -1', 'end failed']],
    ['?s=3221225786', {}, ['start', 'exception JOB: exited with code 3221225786', 'end failed']],
    ['?status=up&msg=OK', { method: 'HEAD' }, ['start', 'end', 'output OK']],
    ['?error=boom', {}, ['start', 'exception boom', 'end failed']],
  ])('%s with %j stores %j', async (rest, init, expected) => {
    const job = newJob()
    const answer = await ping(`${job}${rest}`, init)
    expect([answer.status, answer.text]).toEqual([200, init.method === 'HEAD' ? '' : 'OK'])
    expect((await storedOf(job)).sort()).toEqual(expected.map((each) => each.replace('JOB', job)).sort())
  })

  test.each<[string, string, RequestInit?]>([
    ['?foo=1', '/foo'],
    ['?status=ok&amp;host=x', '/amp;host'],
    ['?status=', '/status'],
    ['?s', '/s'],
    ['?s=', '/s'],
    ['?success=', '/success'],
    ['?exit_code=%20', '/exit_code'],
    ['?status_code', '/status_code'],
    ['?success=yes', '/success'],
    ['?s=ok', '/s'],
    ['?exit_code=1.5', '/exit_code'],
    ['?status=missed', '/status'],
    ['?state=constructor', '/state'],
    ['?constructor=1', '/constructor'],
    ['?state=run&state=fail', '/state'],
    ['?state=complete&status_code=3', '/status_code'],
    ['?success=true&error=boom', '/error'],
    ['/start?state=complete', '/state'],
    ['/log?exit_code=1', '/exit_code'],
    ['/0?s=1', '/s'],
    ['/3?s=4', ''],
    ['/start?duration=3', '/duration'],
    ['?duration=soon', '/duration'],
    ['?duration=-5', '/duration'],
    ['?ping=fast', '/ping'],
    ['?duration=1&ping=7', '/ping'],
    ['?duration=99999999', '/duration'],
    ['?rid=a&series=b', '/series'],
    ['?host=a&host=b', '/host'],
    [`?host=${'h'.repeat(501)}`, '/host'],
    ['?metric=rows', '/metric'],
    ['?metric=rows:many', '/metric'],
    ['?metric=rows:1&metric=rows:2', '/metric'],
    ['?metric=%27:1', '/metric'],
    ['', '/s', form('s=')],
    ['', '/x', form('s=1&x=2')],
    ['', '/status', form('s=1&m=x&status=broken pipe')],
    ['', '/status', form('status=broken pipe&m=a\nb&s=0')],
    ['', '/s', form('s=&m=a\nb')],
    ['', '/s', form('m=a\nb&s=')],
    ['', '/s', form('s=x&m=a\nb')],
    ['', '/status', form('s=1&m=a\nb&status=ok')],
    ['', '/x', form('s=1&x=2&m=a\nb')],
    ['', '/status', json({ status: 'fial' })],
    ['', '/state', json({ state: 'fial' })],
    ['', '/status', json({ status: null, check_in_id: 'a' })],
    ['', '/status', json({ status: { code: 1 } })],
    ['', '/status', json({ status: [], rows: 3 })],
    ['', '/status', json({ status: ' ' })],
    ['', '/rows', json({ status: 'error', rows: 3 })],
    ['', '/rows', json({ status: 'ok', rows: null })],
    ['', '/rows', json({ state: 'Fail', rows: {} })],
    ['', '/status', json({ state: 'fail', status: 'gone' })],
    ['', '/status', json({ state: 'fail', status: 'ok' })],
    ['?state=run', '/s', form('s=1')],
  ])('%s is refused at %s, and nothing of it is stored', async (...[rest, pointer, init]) => {
    const job = newJob()
    const answer = await ping(`${job}${rest}`, init)
    expect([answer.status, answer.json.errors?.[0]?.pointer]).toEqual([422, pointer])
    expect(await storedOf(job)).toEqual([])
  })

  test('that was refused is listed in /api/health by process and parameter for 30 days, for its account alone', async () => {
    const job = newJob()
    for (const rest of ['?sate=fail', '?sate=fail', '?state=']) await ping(`${job}${rest}`)
    const refusedIn = async (by: typeof session) =>
      (await by.get('/api/health')).json.refused_pings.filter(({ process }: { process: string }) => process === job)
    expect((await refusedIn(session)).map(({ name }: { name: string }) => name).sort()).toEqual(['sate', 'state'])
    expect(await refusedIn((await signUpAt(app.url, 'other@example.com')).bySession)).toEqual([])
    expect(JSON.stringify((await session.get('/api/health')).json)).not.toContain('fail')
  })
})

test.each(['text/plain', 'application/x-www-form-urlencoded', undefined])(
  'a check-in in JSON that is called %p',
  async (type) => {
    const send = async (body: unknown) => {
      const job = newJob()
      const headers: HeadersInit = type === undefined ? {} : { 'content-type': type }
      const { status } = await ping(job, { method: 'POST', body: Buffer.from(JSON.stringify(body)), headers })
      return [status, ...(await storedOf(job)).filter((line) => !line.startsWith('exception'))]
    }
    for (const failed of [{ status: 'error', check_in_id: 'abc' }, { state: 'fail' }])
      expect(await send(failed)).toContain('end failed')
    expect(await send({ status: 'ok' })).not.toContain('end failed')
    // lines of a log, as Healthchecks takes them
    for (const text of [{ status: 'weird' }, { status: 'error', rows: 5 }, { rows: 5 }])
      expect(await send(text)).toContain(`output ${JSON.stringify(text)}`)
  },
)

function form(body: string): RequestInit {
  return { method: 'POST', body, headers: { 'content-type': 'application/x-www-form-urlencoded' } }
}

function json(body: unknown): RequestInit {
  return { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json; charset=utf-8' } }
}

test('a multipart body, whose words would be lost, stores nothing; with a signal in the address it is text', async () => {
  const form = new FormData()
  form.set('s', '1')
  const [unread, read] = [newJob(), newJob()]
  const answer = await ping(unread, { method: 'POST', body: form })
  expect([answer.status, answer.json.errors]).toEqual([
    422,
    [{ pointer: '', detail: 'must not be multipart: put the words into the address, or use curl -d' }],
  ])
  expect(await storedOf(unread)).toEqual([])
  expect((await ping(`${read}/fail`, { method: 'POST', body: form })).status).toBe(200)
  expect((await storedOf(read)).map((line) => line.slice(0, 10))).toContain('end failed')
})
