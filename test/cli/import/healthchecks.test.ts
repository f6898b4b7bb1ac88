// `stint import healthchecks` against a real Stint and the answers of a real Healthchecks: healthchecks-v3.json says of which one.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startApp, type TestApp } from '../../support/app.ts'
import { signInAt } from '../../support/caller.ts'
import { startReceiver } from '../../support/receiver.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { createPerson } from '../cli-cast.ts'
import recorded from './healthchecks-v3.json'

const KEY = 'hcw_a-key-that-may-write'
let answers: { checks: unknown; channels: unknown } = recorded
const healthchecks = startReceiver(({ path, headers }) => {
  if (path.startsWith('/moved/')) return Response.redirect(url, 302)
  if (headers.get('x-api-key') !== KEY) return Response.json({ error: 'wrong api key' }, { status: 401 })
  const list = /^\/hc\/api\/v3\/(checks|channels)\/$/.exec(path)?.[1] as keyof typeof answers | undefined
  return list === undefined ? new Response('', { status: 404 }) : Response.json({ [list]: answers[list] })
})
const url = `${healthchecks.url}/hc`

let app: TestApp
let key = ''
beforeAll(async () => {
  app = await startApp()
  const session = await signInAt(app.url)
  key = (await session.post('/api/keys', { name: 'import', scopes: ['manage'] })).json.key.secret
})
afterAll(async () => {
  await app.stop()
  await healthchecks.close()
})

const run = (flags: readonly string[] = [], env: Record<string, string> = { HEALTHCHECKS_API_KEY: KEY }, stdin = '') =>
  createPerson(app.url).run(['import', 'healthchecks', '--url', `${url}/`, ...flags], {
    env: { STINT_API_KEY: key, ...env },
    stdin,
  })
const get = async (path: string) => (await app.fetch(path, { headers: { 'x-stint-api-key': key } })).json
const linesUnder = (text: string, title: string) => {
  const lines = text.split('\n')
  const at = lines.findIndex((line) => line.startsWith(title))
  return lines.slice(at + 1, at + 1 + lines.slice(at + 1).findIndex((line) => !line.startsWith('  ')))
}

test('a dry run creates nothing and prints what it would, what is left, and the crontab', async () => {
  const { exitCode, stdout } = await run(['--dry-run', '--address', 'hooks=https://example.com/x'])
  expect(exitCode).toBe(0)
  expect(stdout).toStartWith(
    'would create channel hooks (webhook)\nwould create watch nightly import 96681c24, with 1 channel\n',
  )
  expect(linesUnder(stdout, 'Not taken over')).toMatchObject([
    '  integration phone: Stint has no channels of the kind sms',
    '  check nightly import 96681c24: its description',
    expect.stringMatching(/^ {2}check workdays: its schedule "Mon..Fri 09:00" .*OnCalendar is not supported/),
    expect.stringContaining('check reports: it accepts POST only'),
    expect.stringContaining('check reports: its filters of keywords'),
    "  integration on call: its address is not in the API; add --address 'on call=ADDRESS'",
    "  integration slack: its address is not in the API; add --address 'slack=ADDRESS'",
    expect.stringContaining("stint channel add 'tg' --kind telegram --chat CHAT, then this again"),
    '  of every check: pings and their logs, badges, and who may see the project',
  ])
  expect(linesUnder(stdout, 'Lines of the crontab').slice(0, 2)).toEqual([
    "  0 3 * * * stint exec --process 'nightly import 96681c24' --meta 'prod db' -- COMMAND  # instead of http://127.0.0.1:8765/ping/96681c24-4a92-4c81-8ca3-9a4107698285, in Europe/Berlin",
    "  # every 1d: stint exec --process 'Backup home 100' --meta 'prod' -- COMMAND  # instead of http://127.0.0.1:8765/ping/b71b0cda-6963-4ebe-a564-cfb32dd97e35",
  ])
  expect([await get('/api/watches'), await get('/api/channels')]).toEqual([
    { watches: [] },
    { channels: [], email: false },
  ])
})

test('creates watches and channels once; a second run changes nothing, one with more addresses adds channels', async () => {
  const { exitCode, stdout } = await run(['--address', 'hooks=https://example.com/x'])
  expect([exitCode, stdout.match(/^created/gm)?.length]).toEqual([0, 8])
  const { watches } = await get('/api/watches')
  const byName = Object.fromEntries(watches.map((watch: { name: string }) => [watch.name, watch]))
  expect(byName['nightly import 96681c24']).toMatchObject({
    process: 'nightly import 96681c24',
    ...{ late: { cron: '0 3 * * *', tz: 'Europe/Berlin', grace: '10m' }, long: null, meta: null },
    failed: { after: 1, exceptions: false },
    channels: [expect.stringMatching(/^cha_/)],
  })
  expect(byName['nightly import 06a91188'].late).toEqual({ every: '1h', grace: '5m' })
  expect(byName['Backup home 100']).toMatchObject({ late: { every: '1d', grace: '1h' }, channels: [] })
  expect(byName['paused job']).toMatchObject({ state: 'paused', paused_until: '2100-01-01T00:00:00.000Z' })
  expect(byName['first monday'].late).toEqual({ cron: '0 9 * * 1#1', tz: 'America/New_York', grace: '5m' })
  expect(byName).not.toHaveProperty('workdays')

  const again = await run(['--address', 'hooks=https://example.com/other'])
  expect(again.stdout).not.toMatch(/created|added/)
  expect((await get('/api/watches')).watches).toEqual(watches)
  const more = await run(['--address', 'slack=https://hooks.slack.com/services/T/B/xyz'])
  expect(more.stdout).toContain('created channel slack (slack)\n')
  expect(more.stdout).toContain('added 1 channel to watch first monday\n')
  expect(more.stdout + more.stderr).not.toContain('services/T')
  expect((await run()).stdout).not.toMatch(/created|added/)
})

test('a run that signals its start has the grace as its limit, as there', async () => {
  const [check] = recorded.checks
  answers = { checks: [{ ...check, name: 'signals', last_duration: 7 }], channels: [] }
  await run()
  expect((await get('/api/watches')).watches.find(({ name }: { name: string }) => name === 'signals').long).toBe('10m')
})

test('the process is called by the slug, which pings use; a limit of a day or more is left out and named', async () => {
  const [check] = recorded.checks
  answers = {
    checks: [{ ...check, uuid: 'a-1', name: 'Weekly Report', slug: 'weekly-report', last_duration: 7, grace: 172_800 }],
    channels: [{ id: 'm', name: 'chat', kind: 'mattermost' }],
  }
  const { stdout } = await run(['--address', 'chat=https://chat.example.com/hooks/abcdefghij0123456789klmnop'])
  expect(stdout).toContain('created channel chat (slack)\n')
  expect(stdout).toContain('check Weekly Report: its limit of a run, 2d: a run takes less than MAX_RUN')
  expect(stdout).toContain("stint exec --process 'weekly-report' ")
  const { watches } = await get('/api/watches')
  expect(watches.find(({ name }: { name: string }) => name === 'Weekly Report')).toMatchObject({
    process: 'weekly-report',
    long: null,
    late: { grace: '2d' },
  })
})

test('hostile names and answers create nothing but watches with safe names', async () => {
  const [check] = recorded.checks
  const uuid = (i: number) => `${String(i).padStart(8, '0')}-0000`
  const names = ["it's; rm -rf $(x) `y` 100%\\", '*', '\u001b[2J\n\u0085a', '', 'x'.repeat(300), '__proto__', '"']
  answers = {
    checks: names.map((name, i) => ({
      ...check,
      uuid: uuid(i),
      name,
      tags: "'; reboot %\n*",
      ping_url: 'http://h/%\n0 0 * * * x',
    })),
    channels: [{ id: 'c', name: '', kind: '__proto__' }],
  }
  const { exitCode, stdout } = await run()
  expect(exitCode).toBe(0)
  const lines = linesUnder(stdout, 'Lines of the crontab')
  expect(lines).toHaveLength(names.length)
  expect(stdout).not.toContain('\u001b')
  for (const line of lines)
    expect(line.split('#')[0]).toMatch(
      /^ {2}0 3 \* \* \* stint exec --process '[^'%]+' --meta '[^'%]+' -- COMMAND {2}$/,
    )
  const found = (await get('/api/watches')).watches.map(({ process }: { process: string }) => process)
  expect(found).toContain('its; rm -rf $(x) `y` 100')
  expect(found.join()).not.toContain('*')
  expect((await run()).stdout).not.toContain('created')
})

test.each<[unknown, unknown]>([
  [[{ ...recorded.checks[0], uuid: undefined }], []], // a read-only key
  [[{ ...recorded.checks[0], grace: -1 }], []],
  [[{ ...recorded.checks[0], timeout: 1e300 }], []],
  [[null], []],
  [{}, []],
  [[], [{ id: 1 }]],
])('an unexpected answer %# is refused before anything is created', async (checks, channels) => {
  answers = { checks, channels }
  const before = await get('/api/watches')
  expect(await run()).toMatchObject({ exitCode: 1, stdout: '' })
  expect(await get('/api/watches')).toEqual(before)
})

test('the key comes from the environment, a file or standard input, and is never printed', async () => {
  answers = { checks: [], channels: [] }
  const path = join(tempDir('hc'), 'key')
  writeFileSync(path, `${KEY}\n`)
  expect((await run([], { HEALTHCHECKS_API_KEY_FILE: path })).exitCode).toBe(0)
  expect((await run(['--api-key', '-'], {}, `${KEY}\n`)).exitCode).toBe(0)
  expect((await run(['--api-key', KEY], {})).exitCode).toBe(0)
  for (const [flags, env, code] of [
    [[], {}, 2],
    [['--api-key', 'two keys'], {}, 2],
    [[], { HEALTHCHECKS_API_KEY_FILE: '/nowhere' }, 2],
    [['--api-key', 'a-wrong-key'], {}, 1],
    [['--url', 'ftp://x'], { HEALTHCHECKS_API_KEY: KEY }, 2],
    [['--url', 'http://127.0.0.1:1'], { HEALTHCHECKS_API_KEY: KEY }, 1],
    [['--address', 'nobody=x'], { HEALTHCHECKS_API_KEY: KEY }, 2],
  ] as const) {
    const { exitCode, stdout, stderr } = await run(flags, env)
    expect([flags, exitCode, stdout]).toEqual([flags, code, ''])
    expect(stderr).toStartWith('stint: ')
    expect(stderr).not.toMatch(/hcw_|wrong-key|two keys/)
  }
})

test('the key follows no redirect', async () => {
  healthchecks.requests.length = 0
  const moved = `${healthchecks.url}/moved`
  expect((await run(['--url', moved])).exitCode).toBe(1)
  expect(healthchecks.requests).toMatchObject([{ method: 'GET', path: '/moved/api/v3/checks/' }])
})

test('beyond a limit of the account it prints what is done, what is left and the crontab, and fails', async () => {
  const [check] = recorded.checks
  const hooks = Array.from({ length: 51 }, (_, i) => `hook ${i}`)
  answers = {
    checks: [{ ...check, name: 'with hooks', channels: 'hook 0' }],
    channels: hooks.map((name) => ({ id: name, name, kind: 'webhook' })),
  }
  const addresses = hooks.flatMap((name) => ['--address', `${name}=https://example.com/x`])
  const { exitCode, stdout, stderr } = await run(addresses)
  expect(exitCode).toBe(1)
  expect(stdout).toStartWith('created channel hook 0 (webhook)\n')
  expect(stdout).toContain('created watch with hooks, with 1 channel\n')
  expect(linesUnder(stdout, 'Not taken over')).toContain(
    '  hook 50: A limit of the account is reached. An account has at most 50 channels. Delete one first.',
  )
  expect(linesUnder(stdout, 'Lines of the crontab')).toHaveLength(1)
  expect(stderr).toContain('beyond a limit of the account')
})
