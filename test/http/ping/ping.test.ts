// Ping addresses as cron lines and runitor use them, seen by the real intake.
import { describe, expect, test } from 'bun:test'
import type { Event } from '../../../src/event/event.ts'
import { timeUs } from '../../../src/event/stamp.ts'
import { readPing } from '../../../src/http/ping/read-ping.ts'
import type { Rooms } from '../../../src/service/open-rooms.ts'
import { type AppOptions, startApp, useApp } from '../../support/app.ts'
import { createCaller, signUpAt } from '../../support/caller.ts'

const app = await useApp({ signup: 'open' })
const { bySession: session } = await signUpAt(app.url, 'pinger@example.com')
const create = (scopes: string[]) => session.post('/api/keys', { name: 'cron', scopes })
const token: string = (await create(['ping'])).json.key.secret
const ping = (rest: string, init: RequestInit = {}) => app.fetch(`/ping/${token}/${rest}`, init)
const eventsOf = async (process: string): Promise<Event[]> =>
  (await app.events())
    .filter((event) => event.process === process)
    .sort(({ stamp: a }, { stamp: b }) => a.us - b.us || a.sub - b.sub)
const summary = async (process: string) =>
  (await eventsOf(process)).map((event) => `${event.kind}${'failed' in event && event.failed ? ' failed' : ''}`)

describe('a ping', () => {
  test('of success alone is a run', async () => {
    const answer = await ping('backup')
    expect([answer.status, answer.text]).toEqual([200, 'OK'])
    expect(await summary('backup')).toEqual(['start', 'end'])
    const [start, end] = (await eventsOf('backup')).map(({ stamp }) => stamp)
    expect(timeUs(end!)).toBe(timeUs(start!)) // of no length
    expect(end).not.toEqual(start) // but another event
  })

  test('after /start is the end of that run', async () => {
    await ping('nightly/start')
    await ping('nightly/0', { method: 'POST' })
    await ping('nightly')
    expect(await summary('nightly')).toEqual(['start', 'end', 'start', 'end'])
  })

  test.each([
    ['fail', 'failed'],
    ['7', 'exited with code 7'],
  ])('of /%s is a failed run with the body as exception', async (signal, how) => {
    await ping(`broken-${signal}/start?rid=0A1B`)
    await ping(`broken-${signal}/${signal}?rid=0a1b`, { method: 'POST', body: 'disk full\n' })
    const events = await eventsOf(`broken-${signal}`)
    expect(events).toMatchObject([
      { kind: 'start', uid: '0a1b' },
      { kind: 'exception', uid: '0a1b', exception: `broken-${signal}: ${how}\ndisk full` },
      { kind: 'end', uid: '0a1b', failed: true },
    ])
  })

  test('as runitor sends it, by POST with a UUID as rid and the exit code at the end', async () => {
    for (const [slug, code, kinds] of [
      ['runitor-ok', 0, ['start', 'output', 'end', 'output']],
      ['runitor-bad', 3, ['start', 'output', 'exception', 'end failed']],
    ] as const) {
      const rid = crypto.randomUUID()
      for (const signal of ['start', code])
        expect((await ping(`${slug}/${signal}?create=0&rid=${rid}`, { method: 'POST', body: 'output' })).status).toBe(
          200,
        )
      expect(await summary(slug)).toEqual([...kinds])
      for (const event of await eventsOf(slug)) expect(event).toMatchObject({ uid: rid })
    }
  })

  test('by HEAD counts', async () => {
    expect((await ping('head', { method: 'HEAD' })).status).toBe(200)
    expect(await summary('head')).toEqual(['start', 'end'])
  })

  test('keeps the end of what it says, whatever its signal', async () => {
    const said = `${'é'.repeat(5000)} 12 files\n`
    const kept = { kind: 'output', output: `${'é'.repeat(4087)} 12 files` }
    for (const signal of ['start', 'log', '0', 'log', 'log'])
      await ping(`said/${signal}`, { method: 'POST', body: said })
    expect(await eventsOf('said')).toMatchObject([{ kind: 'start' }, kept, kept, { kind: 'end' }, kept, kept, kept])
    const [end, output] = (await eventsOf('said')).slice(3)
    expect(output!.stamp).toEqual(end!.stamp)
  })

  test.each(['/log', '', '/start'])('of %p that says nothing keeps nothing', async (signal) => {
    const name = `mute${signal.slice(1)}`
    for (const body of ['', '\n', undefined]) await ping(`${name}${signal}`, { method: 'POST', ...(body && { body }) })
    expect(await summary(name)).not.toContain('output')
  })

  test.each([
    ['UTF-16', Buffer.from('\ufeffGröße', 'utf16le')],
    ['windows-1252', Buffer.from('Größe', 'latin1')],
    ['UTF-8', Buffer.from('Größe')],
  ])('in %s becomes text', async (name, body) => {
    for (const signal of ['', '/fail']) await ping(`${name}${signal}`, { method: 'POST', body })
    expect(await eventsOf(name)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ output: 'Größe' }),
        expect.objectContaining({ exception: `${name}: failed\nGröße` }),
      ]),
    )
  })

  test('with a rid that is sent again within a minute is the same event', async () => {
    for (const [slug, signals] of [
      ['again-ok', ['/start', '/start', '/log', '/log', '', '']],
      ['again-bad', ['/start', '/fail', '/fail', '/fail']],
    ] as const)
      for (const signal of signals)
        expect((await ping(`${slug}${signal}?rid=a1`, { method: 'POST', body: 'said' })).status).toBe(200)
    expect((await summary('again-ok')).sort()).toEqual(['end', 'output', 'output', 'output', 'start'])
    expect((await summary('again-bad')).sort()).toEqual(['end failed', 'exception', 'output', 'start'])
    // at once, and another rid or exit code
    const post = (rest: string) => ping(`again-race${rest}`, { method: 'POST' })
    await Promise.all([post('?rid=b'), post('?rid=b'), post('?rid=c')])
    for (const code of [1, 2, 1]) await post(`/${code}?rid=d`)
    expect((await summary('again-race')).filter((kind) => kind === 'end')).toHaveLength(2)
    expect((await summary('again-race')).filter((kind) => kind === 'end failed')).toHaveLength(2)
    // without rid each is one
    for (const _ of [1, 2]) await ping('again-none')
    expect(await summary('again-none')).toEqual(['start', 'end', 'start', 'end'])
  })

  test('of two logs with different bodies of one rid are two', async () => {
    for (const body of ['a', 'b', 'a']) await ping('logs/log?rid=a', { method: 'POST', body })
    expect((await eventsOf('logs')).map((event) => event.kind === 'output' && event.output)).toEqual(['a', 'b'])
  })

  test.each(['/log', '', '/fail'])('of %p with a rid and another metric or duration is another', async (signal) => {
    const job = `figures${signal.slice(1)}`
    for (const words of ['metric=rows:1', 'metric=rows:2', 'metric=rows:2'])
      expect((await ping(`${job}${signal}?rid=a&${words}`)).status).toBe(200)
    const items = (await eventsOf(job)).flatMap((event) => (event.kind === 'metrics' ? [event.items] : []))
    expect(items).toEqual([[['rows', 1]], [['rows', 2]]])
    if (signal === '/log') return
    for (const words of ['duration=3', 'duration=4', 'duration=4']) await ping(`${job}${signal}?rid=b&${words}`)
    expect((await eventsOf(job)).filter(({ kind, uid }) => kind === 'end' && uid === 'b')).toHaveLength(2)
  })

  test('keeps the end of a long body', async () => {
    await ping('long/fail', { method: 'POST', body: `${'x'.repeat(100_000)} the reason` })
    const [exception] = (await eventsOf('long')).filter((event) => event.kind === 'exception')
    expect(exception).toMatchObject({ exception: expect.stringMatching(/^x{14989} the reason$/) })
  })

  test.each(['fail', 'log'])('/%s takes a body of more than an event may have', async (signal) => {
    const body = new ReadableStream({
      start(stream) {
        for (let i = 0; i < 40; i++) stream.enqueue(new TextEncoder().encode('é'.repeat(100_000)))
        stream.enqueue(new TextEncoder().encode(' the reason'))
        stream.close()
      },
    })
    expect((await ping(`huge-${signal}/${signal}`, { method: 'POST', body })).status).toBe(200)
    const [exception] = (await eventsOf(`huge-${signal}`)).filter((event) => event.kind === 'exception')
    expect(exception?.exception?.slice(-13)).toBe(signal === 'log' ? undefined : 'éé the reason')
  })

  test('takes the id that a scheduler has as rid', async () => {
    await ping('foreign/start?rid=GitLab%20%234711')
    await ping('foreign?rid=GitLab%20%234711')
    expect((await eventsOf('foreign')).map(({ uid }) => uid)).toEqual([
      'gitlab--4711-cc8e9f25',
      'gitlab--4711-cc8e9f25',
    ])
  })

  test('with a body that is too large is refused', async () => {
    expect((await ping('bad', { method: 'POST', body: 'x'.repeat(9 * 2 ** 20) })).status).toBe(413)
    expect(await summary('bad')).toEqual([])
  })

  test('of /log leaves its run open', async () => {
    await ping('logging/start')
    await ping('logging/log', { method: 'POST', body: 'half done' })
    await ping('logging')
    expect(await summary('logging')).toEqual(['start', 'output', 'end'])
  })
})

describe('a ping is refused', () => {
  const refused = async (options: AppOptions, ...signals: string[]) => {
    await using other = await startApp(options)
    const { secret } = await other.rooms.accounts.keys.create(other.account, 'cron', ['ping'])
    const answers = []
    for (const signal of signals) answers.push(await other.fetch(`/ping/${secret}/job${signal}`))
    return { statuses: answers.map(({ status }) => status), last: answers.at(-1)!, events: await other.events() }
  }

  test('beyond the events per second of its account', async () => {
    const { statuses, last } = await refused({ rateLimit: 2 }, '/start', '', '/start')
    expect(statuses).toEqual([200, 200, 429])
    expect(last.headers.get('retry-after')).toBe('1')
  })

  test.each(['points', 'exceptions'] as const)('without a trace while the spool of %s is full', async (full) => {
    const replace = (rooms: Rooms): Rooms => {
      rooms.spools[full].refusal = () => 'spool_full'
      return rooms
    }
    const { statuses, events } = await refused({ replace }, '/fail', '')
    expect(statuses).toEqual([503, 503])
    expect(events).toEqual([])
  })
})

describe('the token', () => {
  test.each(['owner', 'writer', 'reader', 'revoked'] as const)('is not a key for the %s', async (name) => {
    expect((await app.fetch(`/ping/${app.keys[name]}/x`)).status).toBe(404)
  })

  test('is not an API key: it neither writes nor reads', async () => {
    const { get, post } = createCaller(app.url, { key: token })
    expect([(await post('/v1/start', { process: 'p' })).status, (await get('/api/timings')).status]).toEqual([403, 403])
  })

  test('cannot be created with another scope', async () => {
    const answer = await create(['ping', 'write'])
    expect([answer.status, answer.json.errors[0].pointer]).toEqual([422, '/scopes'])
  })

  test('fails as soon as it is revoked, and is never logged', async () => {
    const { json } = await create(['ping'])
    expect((await app.fetch(`/ping/${json.key.secret}/x`)).status).toBe(200)
    await session.delete(`/api/keys/${json.key.id}`)
    expect((await app.fetch(`/ping/${json.key.secret}/x`)).status).toBe(404)
    expect(app.log.join('\n')).not.toContain(json.key.secret)
    expect(app.log.join('\n')).not.toContain(token)
  })
})

test.each([
  ['t/a', { process: 'a', signal: undefined }],
  ['t/a/', { process: 'a', signal: undefined }],
  ['t/a%20b/start', { process: 'a b', signal: 'start' }],
  ['t/a/255', { signal: 'fail', exitCode: 255 }],
  ['t/a/0', { signal: 'success' }],
  ['t', 'The process is missing'],
  ['t/', 'The process is missing'],
  ['/a', 'The token is missing'],
  ['t/a/256', 'The part behind the process is not start, fail, log or an exit code'],
  ['t/a/stop', 'The part behind the process is not start, fail, log or an exit code'],
  ['t/a/start/x', 'There is a / too many'],
  ['t/%ff', 'The process is not percent-encoded UTF-8'],
] as [path: string, expected: object | string][])('reads %s', (path, expected) => {
  const found = readPing(`/ping/${path}`)
  if (typeof expected === 'string') expect(found).toStartWith(expected)
  else expect(found).toMatchObject({ token: 't', ...expected })
})
