// The routes of watches, channels and alerts, and the command line over them, against the real service.
import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPerson } from '../cli/cli-cast.ts'
import { useApp } from '../support/app.ts'
import { createCaller, faultsOf, signInAt } from '../support/caller.ts'
import { tempDir } from '../support/temp-dir.ts'

const app = await useApp()
const { call: ask } = await signInAt(app.url)
const key: string = (await ask('POST', '/api/keys', { name: 'infra', scopes: ['manage'] })).json.key.secret
const { run } = createPerson(app.url)
/** The command line with that key. */
const stint = (line: string | string[]) => run(line, { env: { STINT_API_KEY: key } })
const channel = async (body: object = {}) =>
  (await ask('POST', '/api/channels', { name: 'hook', kind: 'webhook', url: 'https://example.com/x', ...body })).json
    .channel

test('stint watch list and stint alerts report that there is nothing to list', async () => {
  for (const [line, stderr] of [
    ['watch list', 'No watches.\n'],
    ['alerts', 'No alerts.\n'],
  ] as const)
    expect(await stint(line)).toMatchObject({ exitCode: 0, stdout: '', stderr })
})

test('stint watch add --preview creates nothing', async () => {
  const { exitCode, stdout, stderr } = await stint('watch add unheard --every 1h --preview')
  expect([exitCode, stdout, stderr]).toEqual([
    0,
    '',
    expect.stringMatching(/^would have fired 0 times; tested on 0 events since 2\S+Z\n$/),
  ])
  expect((await ask('GET', '/api/watches?process=unheard')).json.watches).toEqual([])
})

describe('a channel', () => {
  test('shows the secret of a webhook once, and never again', async () => {
    const made = await channel()
    expect(made).toMatchObject({ kind: 'webhook', url: 'https://example.com/x', state: 'untested', last: null })
    expect(made.secret).toMatch(/^whsec_[\w+/]{43}=$/)
    const { secret: _, ...shown } = made
    expect((await ask('GET', `/api/channels/${made.id}`)).json).toEqual({ channel: shown })
    expect((await ask('GET', '/api/channels')).text).not.toContain('whsec_')
    expect(app.log.join('\n')).not.toContain(made.secret)
    expect((await ask('DELETE', `/api/channels/${made.id}`)).status).toBe(204)
    expect((await ask('GET', `/api/channels/${made.id}`)).status).toBe(404)
  })

  test.each([
    [{ kind: 'webhook', url: 'ftp://example.com' }, '/url'],
    [{ kind: 'webhook', url: 'https://user:pass@example.com' }, '/url'],
    [{ kind: 'webhook' }, '/url'],
    [{ kind: 'webhook', url: 'https://example.com', to: 'ada@example.com' }, '/to'],
    [{ kind: 'email', to: 'nobody' }, '/to'],
    [{ kind: 'email', to: 'ada@ex\uff41mple.com' }, '/to'],
    [{ kind: 'email', to: 'ada@example.com' }, '/kind'],
    [{ kind: 'pager', url: 'https://example.com' }, '/kind'],
    [{ name: '', kind: 'ntfy', url: 'https://example.com' }, '/name'],
  ])('%j is refused at %s', async (body, pointer) => {
    const answer = await ask('POST', '/api/channels', { name: 'x', ...body })
    expect(faultsOf(answer)).toEqual([422, 'fields_invalid', pointer])
  })

  test('that cannot be reached fails its test with 502 and the reason', async () => {
    const { id } = await channel({ url: 'http://127.0.0.1:1/' })
    const { status, json } = await ask('POST', `/api/channels/${id}/test`)
    expect([status, json.code]).toEqual([502, 'channel_failed'])
    expect(json.detail).toContain('NOTIFY_PRIVATE')
    expect((await ask('GET', `/api/channels/${id}`)).json.channel.last).toMatchObject({
      ok: false,
      detail: json.detail,
    })
  })
})

describe('a watch', () => {
  const body = { name: 'nightly', process: "nightly 'import'", channels: [] as string[] }

  test('is created, changed, listed and deleted', async () => {
    const { id: hook } = await channel()
    const made = await ask('POST', '/api/watches', {
      ...body,
      channels: [hook],
      late: { cron: '0 3 * * *', tz: 'Europe/Berlin', grace: '10m' },
      long: '30m',
    })
    expect(made.status).toBe(201)
    const { watch } = made.json
    expect(watch).toMatchObject({
      ...{ name: 'nightly', process: 'nightly import', meta: null, channels: [hook], paused_until: null, state: 'ok' },
      ...{ long: '30m', failed: null, metric: null, slow: null },
      late: { cron: '0 3 * * *', tz: 'Europe/Berlin', grace: '10m' },
    })
    const path = `/api/watches/${watch.id}`
    const changed = await ask('PATCH', path, { long: null, failed: {}, paused_until: '2999-01-01T00:00:00Z' })
    expect(changed.json.watch).toMatchObject({
      late: watch.late,
      long: null,
      failed: { after: 1, exceptions: false },
      state: 'paused',
    })
    const emptied = await ask('PATCH', path, { late: null, failed: null })
    expect(emptied.status).toBe(422)
    expect(emptied.json.errors).toMatchObject([{ pointer: '' }])
    expect((await ask('GET', path)).json).toEqual(changed.json)
    expect((await ask('GET', '/api/watches')).json.watches).toContainEqual(changed.json.watch)
    await ask('DELETE', `/api/channels/${hook}`)
    expect((await ask('GET', path)).json.watch.channels).toEqual([])
    expect((await ask('DELETE', path)).status).toBe(204)
    expect((await ask('DELETE', path)).status).toBe(404)
  })

  test.each([
    [{}, ''],
    [{ late: {} }, '/late'],
    [{ late: { every: '1h', cron: '* * * * *' } }, '/late'],
    [{ late: { every: '0s' } }, '/late/every'],
    [{ late: { every: '1h', grace: 'soon' } }, '/late/grace'],
    [{ late: { cron: '61 * * * *' } }, '/late/cron'],
    [{ late: { cron: '0 0 30 2 *' } }, '/late/cron'],
    [{ late: { cron: '0 3 * * *', tz: 'Mars/Base' } }, '/late/tz'],
    [{ long: '24h' }, '/long'],
    [{ failed: { after: 0 } }, '/failed/after'],
    [{ metric: { name: 'rows', window: '10m', of: 'last' } }, '/metric'],
    [{ metric: { name: 'rows', window: '10m', of: 'sum', above: 1 } }, '/metric/of'],
    [{ slow: 0.5 }, '/slow'],
    [{ long: '1m', channels: ['cha_none'] }, '/channels/0'],
    [{ long: '1m', unknown: 1 }, '/unknown'],
    [{ long: '1m', process: "'" }, '/process'],
    [{ long: '1m', paused_until: 'tomorrow' }, '/paused_until'],
  ])('with %j is refused at %j', async (conditions, pointer) => {
    const answer = await ask('POST', '/api/watches', { ...body, ...conditions })
    expect(faultsOf(answer)).toEqual([422, 'fields_invalid', pointer])
  })

  test('publishes a badge whose address works until it is revoked', async () => {
    const { id } = (await ask('POST', '/api/watches', { ...body, name: '<b>', long: '1m' })).json.watch
    const { badge } = (await ask('POST', `/api/watches/${id}/badge`)).json.watch
    expect(badge).toMatch(/^\/badge\/[\w-]{43}$/)
    const svg = await app.fetch(`${badge}.svg`)
    expect([svg.status, svg.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
    expect(svg.text).toContain('&lt;b&gt;: ok')
    expect((await app.fetch(`${badge}.json`)).json).toEqual({
      ...{ name: '<b>', state: 'ok', firing: 0 },
      sentence: '',
    })
    expect((await ask('DELETE', `/api/watches/${id}/badge`)).status).toBe(204)
    expect((await app.fetch(`${badge}.svg`)).status).toBe(404)
  })
})

describe('a key with the scope manage', () => {
  const { get, post } = createCaller(app.url, { key })

  test('manages watches, but neither reads nor writes events', async () => {
    expect((await get('/api/watches')).status).toBe(200)
    expect((await get('/api/timings')).status).toBe(403)
    expect((await post('/v1/start', { process: 'x' })).status).toBe(403)
  })

  test('cannot create or rotate keys with scopes that it lacks', async () => {
    const create = (scopes: string[]) => post('/api/keys', { name: 'x', scopes })
    expect((await create(['manage'])).status).toBe(201)
    expect((await create(['write'])).json.code).toBe('scope_missing')
    const { keys } = (await get('/api/keys')).json
    const wider = keys.find(({ scopes }: { scopes: string[] }) => scopes.includes('write'))
    const rotated = await post(`/api/keys/${wider.id}/rotate`, {})
    expect(rotated.json.code).toBe('scope_missing')
  })
})

test('watches are listed by a process that they cover, by name or pattern', async () => {
  const ids = await Promise.all(
    ['covered', 'cov*', 'other'].map(async (process) => {
      const made = await ask('POST', '/api/watches', { name: process, process, channels: [], long: '1h' })
      return made.json.watch.id
    }),
  )
  const namesOf = async (query: string) =>
    (await ask('GET', `/api/watches?${query}`)).json.watches.map(({ name }: { name: string }) => name)
  expect(await namesOf('process=covered')).toEqual(['cov*', 'covered'])
  expect(await namesOf('process=cover')).toEqual(['cov*'])
  const twice = await ask('GET', '/api/watches?process=a&process=b')
  expect(faultsOf(twice)).toEqual([422, 'question_invalid', '/process'])
  for (const id of ids) await ask('DELETE', `/api/watches/${id}`)
})

test('alerts: parameters are checked, an unknown id is not found', async () => {
  expect((await ask('GET', '/api/alerts?state=firing&process=nightly&limit=5')).json).toEqual({
    alerts: [],
    next: null,
    unjudged: [],
  })
  const refused = await ask('GET', '/api/alerts?state=open&limit=0&x=1')
  expect(faultsOf(refused)).toEqual([422, 'question_invalid', '/state', '/limit', '/x'])
  expect((await ask('POST', '/api/alerts/ale_none/dismiss')).status).toBe(404)
})

test('stint watch channel creates a channel that watches can name', async () => {
  const made = await stint('watch channel cli-hook https://example.com/cli --no-test')
  expect(made.stdout).toMatch(/^cha_\w+\n$/)
  expect(made.stderr).toContain('whsec_')
  expect((await stint('watch channel x https://example.com --kind fax')).exitCode).toBe(2)
  const watch = (await stint('watch add cli-job --failed 1 --channel cli-hook')).stdout.trim()
  expect((await ask('GET', `/api/watches/${watch}`)).json.watch.channels).toEqual([made.stdout.trim()])
  await ask('DELETE', `/api/watches/${watch}`)
  await ask('DELETE', `/api/channels/${made.stdout.trim()}`)

  const sender = (await ask('POST', '/api/keys', { name: 'sender', scopes: ['write'] })).json.key.secret
  const refused = await run('watch list', { env: { STINT_API_KEY: sender } })
  expect(refused.stderr).toContain('stint login makes one that may write, read and manage')
})

test('stint watch apply creates, changes, prunes, and does nothing the second time', async () => {
  const file = join(tempDir('apply'), 'watches.json')
  const save = (watches: object[]) =>
    writeFileSync(
      file,
      JSON.stringify({ channels: [{ name: ' ops\u2003', kind: 'ntfy', url: 'https://ntfy.sh/ops' }], watches }),
    )
  const first = { name: 'a', process: 'job a', channels: ['ops'], late: { every: '1h' } }
  save([first, { name: 'b', process: 'job *', channels: [], long: '10m', slow: 2 }])
  const apply = (flags = '') => stint(`watch apply ${file}${flags}`)
  expect((await apply()).stdout).toBe('created channel ops\ncreated watch a\ncreated watch b\n')
  expect(await apply()).toMatchObject({ exitCode: 0, stdout: '', stderr: 'Nothing to change.\n' })
  save([{ ...first, failed: { after: 2, exceptions: true } }])
  expect((await apply()).stdout).toBe('changed watch a\n')
  expect((await apply(' --prune')).stdout).toContain('deleted watch b\n')
  const listed = await stint('watch list')
  expect(listed.stdout).toContain('is late (every 1 h), fails 2 times in a row, or raises an exception')
  const spelled = { name: ' \u00a0a\u2003', channels: ['ops\u00a0'], process: 'job "a%', meta: 'x%y\\', failed: {} }
  save([{ ...spelled, late: { every: '1h' }, paused_until: '2999-01-01T00:00:00Z' } as object])
  expect((await apply(' --prune')).stdout).toBe('changed watch a\n')
  expect(await apply(' --prune')).toMatchObject({ exitCode: 0, stdout: '', stderr: 'Nothing to change.\n' })
  const named = ({ name }: { name: string }) => name.trim() === 'ops'
  expect((await ask('GET', '/api/channels')).json.channels.filter(named)).toHaveLength(1)
  expect((await ask('GET', '/api/watches')).json.watches).toMatchObject([
    { name: 'a', process: 'job a', meta: 'xy', paused_until: '2999-01-01T00:00:00.000Z' },
  ])
  save([spelled, { ...spelled, name: 'a' }])
  expect(await apply()).toMatchObject({ exitCode: 2, stderr: 'stint: watches names a twice\n' })
  save([{ ...first, channels: ['nobody'] }])
  expect(await apply()).toMatchObject({ exitCode: 1, stderr: 'stint: no channel is called nobody\n' })
})

test('stint watch add takes every figure of a metric', async () => {
  const add = (flags: string) => stint(`watch add queue ${flags} --json`)
  const metricOf = async (flags: string) => JSON.parse((await add(flags)).stdout).watch.metric
  expect(await metricOf('--metric depth --above 100')).toEqual({ name: 'depth', window: '10m', of: 'last', above: 100 })
  expect(await metricOf('--metric heat --below -1.5 --of mean --window 1h --for 5m')).toEqual({
    ...{ name: 'heat', window: '1h', of: 'mean', below: -1.5, for: '5m' },
  })
  for (const wrong of ['--above 1', '--failed 1 --window 1h', '--metric a --above high', '--metric a --above'])
    expect([wrong, (await add(wrong)).exitCode]).toEqual([wrong, 2])
  const refused = await add('--metric a')
  expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('either above or below')])
  for (const { id, name } of (await ask('GET', '/api/watches')).json.watches)
    if (name === 'queue') await ask('DELETE', `/api/watches/${id}`)
})

test('stint watch add, pause and rm', async () => {
  const added = await stint('watch add backup --every 1d --grace 1h --failed 1 --channel ops')
  expect(added.stdout).toMatch(/^wat_\w{16}\n$/)
  expect((await stint('watch pause backup 2999-01-01T00:00:00Z')).stderr).toContain('paused until')
  expect((await stint('watch list')).stdout).toContain('paused')
  const pausedUntil = async (until: string) => {
    expect((await stint(['watch', 'pause', 'backup', until])).exitCode).toBe(0)
    const { watches } = (await ask('GET', '/api/watches')).json
    return Date.parse(watches.find((watch: { name: string }) => watch.name === 'backup').paused_until)
  }
  const before = Date.now()
  const inTwoHours = await pausedUntil('2h')
  expect(inTwoHours).toBeGreaterThanOrEqual(before + 7_200_000)
  expect(inTwoHours).toBeLessThanOrEqual(Date.now() + 7_200_000)
  expect(await pausedUntil('2999-01-01 03:00')).toBe(new Date('2999-01-01T03:00').getTime())
  for (const wrong of ['soon', '0', '100', '-2h', '99999999d', '2026-02-30']) {
    const refused = await stint(['watch', 'pause', 'backup', '--', wrong])
    expect([wrong, refused.exitCode]).toEqual([wrong, 2])
  }
  expect((await stint('watch rm backup')).exitCode).toBe(0)
  expect((await stint('watch rm backup')).stderr).toBe('stint: no watch is called backup\n')
  expect((await stint('alerts')).exitCode).toBe(0)
})

test('stint watch add a second time changes the watch, and says that nobody is notified', async () => {
  const { id, name } = await channel({ name: 'a second time' })
  const first = await stint(['watch', 'add', 'it is', '--failed', '1'])
  expect(first.stderr).toMatch(/^No one is notified: .*: stint watch add 'it is' --channel \S+/)
  const second = await stint(['watch', 'add', 'it is', '--long', '30m', '--channel', name])
  expect([second.stdout, second.stderr]).toEqual([first.stdout, expect.stringContaining('exists and was changed: ')])
  expect(second.stderr).not.toMatch(/Nobody|nothing is sent/)
  const { watch } = (await ask('GET', `/api/watches/${first.stdout.trim()}`)).json
  expect(watch).toMatchObject({ long: '30m', failed: { after: 1, exceptions: false }, channels: [expect.any(String)] })
  const third = await stint(['watch', 'add', 'it is', '--failed', '2'])
  expect([third.exitCode, third.stderr]).toEqual([0, expect.not.stringContaining('Nobody')])
  await ask('PATCH', `/api/channels/${id}`, { enabled: false })
  const fourth = await stint(['watch', 'add', 'it is', '--channel', name, '--failed', '1'])
  expect(fourth.stderr).toStartWith('Channel a second time is disabled: nothing is sent to it yet.\n')
  expect((await stint(['watch', 'rm', 'it is'])).exitCode).toBe(0)
})

test('the audit log names what was deleted and says from what to what members were changed', async () => {
  const { id } = await channel({ name: 'on call' })
  await ask('PATCH', `/api/channels/${id}`, { name: 'pager', enabled: false })
  await ask('DELETE', `/api/channels/${id}`)
  const { entries } = (await ask('GET', '/api/audit?limit=3')).json
  expect(entries.map((entry: Record<string, unknown>) => [entry.action, entry.target, entry.detail])).toEqual([
    ['channel_deleted', id, 'pager'],
    ['channel_changed', id, 'pager: name on call → pager, enabled → false'],
    ['channel_created', id, 'on call'],
  ])
  const maintenance = { process: 'nightly *', to: '2100-01-01T00:00:00Z' }
  const planned = (await ask('POST', '/api/maintenance', maintenance)).json.maintenance.id
  const { watch } = (await ask('POST', '/api/watches', { name: 'w', process: 'p', channels: [], failed: {} })).json
  const late = { every: '1h', grace: '10m' }
  await ask('PATCH', `/api/watches/${watch.id}`, { meta: 'eu', failed: null, late })
  await ask('PATCH', `/api/watches/${watch.id}`, { late: { ...late, every: '2h' } })
  await ask('PATCH', `/api/maintenance/${planned}`, { process: 'nightly import' })
  const changed = (await ask('GET', '/api/audit?limit=3')).json.entries
  expect(changed.map(({ detail }: { detail: string }) => detail)).toEqual([
    'nightly import: process nightly * → nightly import',
    'w: late (every 1h, grace 10m) → (every 2h, grace 10m)',
    'w: meta none → eu, failed (after 1, exceptions false) → none, late none → (every 1h, grace 10m)',
  ])
  for (const path of [`maintenance/${planned}`, `watches/${watch.id}`]) await ask('DELETE', `/api/${path}`)
  const rest = (await ask('GET', '/api/audit?limit=2')).json.entries
  expect(rest.map(({ detail }: { detail: string }) => detail)).toEqual(['w', 'nightly import'])
})
