// `stint import healthchecks` with the answers of a real Healthchecks (healthchecks-v3.json says of which one), and a
// real Stint that takes what it prints.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startApp, type TestApp } from '../../support/app.ts'
import { type ApiCaller, signInAt } from '../../support/caller.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { createPerson } from '../cli-cast.ts'
import recorded from './healthchecks-v3.json'

const { checks: CHECKS, channels: CHANNELS } = recorded

let app: TestApp
let session: ApiCaller
let key = ''
const dir = tempDir('hc')
beforeAll(async () => {
  app = await startApp()
  session = await signInAt(app.url)
  key = (await session.post('/api/keys', { name: 'import', scopes: ['manage', 'write'] })).json.key.secret
})
afterAll(() => app.stop())

let files = 0
const save = (content: unknown): string => {
  const path = join(dir, `${++files}.json`)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}
const stint = (args: readonly string[], stdin = '') =>
  createPerson(app.url).run([...args], { env: { STINT_API_KEY: key }, stdin })
async function plan(checks: unknown, channels?: unknown, ...flags: string[]) {
  const paths = [save({ checks }), ...(channels === undefined ? [] : [save({ channels })])]
  const { exitCode, stdout, stderr } = await stint(['import', 'healthchecks', ...paths, ...flags])
  return { exitCode, stderr, stdout, file: stdout === '' ? undefined : JSON.parse(stdout) }
}
const linesUnder = (text: string, title: string) => {
  const lines = text.split('\n')
  const at = lines.findIndex((line) => line.startsWith(title))
  return lines.slice(at + 1, at + 1 + lines.slice(at + 1).findIndex((line) => !line.startsWith('  ')))
}
const checkOf = (more: object) => ({ ...CHECKS[0]!, ...more })

test('prints a file of watches and channels, and beside it what is missing, what is left, and what replaces a ping', async () => {
  const { exitCode, file, stderr } = await plan(CHECKS, CHANNELS)
  expect(exitCode).toBe(0)
  expect(file.channels).toEqual([
    { name: 'on call', kind: 'email', to: '' },
    { name: 'hooks', kind: 'webhook', url: '' },
    { name: 'slack', kind: 'slack', url: '' },
    { name: 'tg', kind: 'telegram', token: '', chat: '' },
  ])
  expect(file.watches.map(({ name }: { name: string }) => name)).not.toContain('workdays')
  expect(file.watches[0]).toEqual({
    ...{ name: 'nightly import 96681c24', process: 'nightly import 96681c24' },
    late: { cron: '0 3 * * *', tz: 'Europe/Berlin', grace: '10m' },
    failed: { after: 1, exceptions: false },
    channels: ['hooks', 'on call'],
  })
  expect(linesUnder(stderr, 'Fill in')).toContain('  channel tg: token, chat')
  expect(linesUnder(stderr, 'Not taken over')).toMatchObject([
    '  integration phone: Stint has no channels of the kind sms',
    '  check nightly import 96681c24: its description',
    expect.stringMatching(/^ {2}check workdays: its schedule "Mon..Fri 09:00" .*OnCalendar is not supported/),
    expect.stringContaining('check reports: it accepts POST only'),
    expect.stringContaining('check reports: its filters of keywords'),
    '  of every check: pings and their logs, badges, and who may see the project',
  ])
  expect(linesUnder(stderr, 'Old address')[0]).toBe(
    "  http://127.0.0.1:8765/ping/96681c24-4a92-4c81-8ca3-9a4107698285 → stint exec --process 'nightly import 96681c24' --meta 'prod db' -- COMMAND",
  )
})

test('watch apply takes the file once its addresses are filled in, and nothing is changed by the next one', async () => {
  const { stdout, file } = await plan(CHECKS, CHANNELS)
  expect(await stint(['watch', 'apply', save(stdout)])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining(
      'fill in, in the file: to of channel on call, url of channel hooks, url of channel slack, token and chat of channel tg',
    ),
  })
  const mailed = { channels: [{ name: 'on call', kind: 'email', to: 'ada@example.com' }] }
  expect(await stint(['watch', 'apply', save(mailed)])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/channel on call: .*kind e-mail is not set up/s),
  })
  const filled = {
    watches: file.watches.map((watch: { channels: string[] }) => ({
      ...watch,
      channels: watch.channels.filter((name) => name === 'hooks'),
    })),
    channels: [{ name: 'hooks', kind: 'webhook', url: 'https://example.com/x' }],
  }
  const path = save(filled)
  const applied = await stint(['watch', 'apply', path])
  expect([applied.exitCode, applied.stdout.match(/^created/gm)?.length]).toEqual([0, 8])
  expect((await stint(['watch', 'apply', path])).stdout).toBe('')
  const { watches } = (await session.get('/api/watches')).json
  const byName = Object.fromEntries(watches.map((watch: { name: string }) => [watch.name, watch]))
  expect(byName['nightly import 06a91188'].late).toEqual({ every: '1h', grace: '5m' })
  expect(byName['Backup home 100']).toMatchObject({ late: { every: '1d', grace: '1h' }, channels: [] })
  expect(byName['paused job']).toMatchObject({ state: 'paused', paused_until: '2100-01-01T00:00:00.000Z' })
  expect(byName['first monday'].late).toEqual({ cron: '0 9 * * 1#1', tz: 'America/New_York', grace: '5m' })
})

test('--keys makes the old addresses work at Stint, prints old and new, and repeated makes what is missing', async () => {
  const [first, second] = [crypto.randomUUID(), crypto.randomUUID()]
  const old = 'https://hc-ping.example.com'
  const of = (uuid: string, name: string) => checkOf({ uuid, name, slug: name, ping_url: `${old}/${uuid}` })
  const once = await plan([of(first, 'moved-1')], [], '--keys')
  expect(once.exitCode).toBe(0)
  expect(linesUnder(once.stderr, 'Old address')).toEqual([`  ${old}/${first} → ${app.url}/ping/${first}`])
  expect(linesUnder(once.stderr, 'All of a crontab')).toEqual([
    `  crontab -l | sed -e 's#${old}/${first}#${app.url}/ping/${first}#g' | crontab -`,
  ])
  const again = await plan([of(first, 'moved-1'), of(second, 'moved-2')], [], '--keys')
  expect([again.exitCode, linesUnder(again.stderr, 'Old address').length]).toEqual([0, 2])
  for (const path of [`/ping/${first}/start`, `/ping/${first}`, `/${second}`])
    expect((await app.fetch(path)).status).toBe(200)
  expect((await app.events()).map(({ process }) => process)).toEqual(['moved-1', 'moved-1', 'moved-2', 'moved-2'])
  const { keys } = (await session.get('/api/keys')).json
  expect(keys.filter(({ process }: { process?: string }) => process?.startsWith('moved-'))).toHaveLength(2)
})

test('--keys names each check whose UUID cannot be a key, makes the others, and fails', async () => {
  const [taken, free] = [crypto.randomUUID(), crypto.randomUUID()]
  await session.post('/api/keys', { name: 'x', scopes: ['ping'], process: 'somebody', secret: taken })
  const of = (uuid: string, name: string) => checkOf({ uuid, name, slug: name, ping_url: `https://h/${uuid}` })
  const version1 = 'a54e20ee-8f2c-11f0-9c0e-325096b39f47'
  const checks = [of(taken, 'taken'), of(version1, 'old'), of(free, 'free')]
  const { exitCode, stderr } = await plan(checks, [], '--keys')
  expect(exitCode).toBe(1)
  expect(linesUnder(stderr, 'Not taken over').filter((line) => line.includes('no key'))).toEqual([
    expect.stringMatching(/^ {2}check taken: no key: There is a key with this secret/),
    expect.stringMatching(/^ {2}check old: no key: .*v4 UUID/),
  ])
  const [line, ...more] = linesUnder(stderr, 'All of a crontab')
  expect(more).toEqual([])
  const sed = /^ {2}crontab -l \| (sed .*) \| crontab -$/.exec(line!)![1]!
  const crontab = checks.map(({ ping_url }) => `0 3 * * * curl ${ping_url}/start; curl ${ping_url}?rid=1\n`).join('')
  const changed = Bun.spawnSync(['sh', '-c', sed], { stdin: Buffer.from(crontab) }).stdout.toString()
  expect(changed).toBe(crontab.replaceAll(`https://h/${free}`, `${app.url}/ping/${free}`))
  expect((await app.fetch(`/${free}/start`)).status).toBe(200)
})

test('the answer to a read-only key has no ping addresses, which is said', async () => {
  const { uuid: _u, ping_url: _p, channels: _c, ...check } = checkOf({ name: 'shown' })
  const { exitCode, file, stderr } = await plan([{ ...check, unique_key: 'abc' }])
  expect([exitCode, file.watches[0].name, file.watches[0].channels]).toEqual([0, 'shown', []])
  expect(linesUnder(stderr, 'No ping addresses')).toEqual([expect.stringContaining('a key that may write')])
  expect(stderr).not.toContain('Old address')
  expect(stderr).toContain('a second FILE')
})

test('a run that signals its start has the grace as its limit; one of a day or more is left out and named', async () => {
  const { file, stderr } = await plan([
    checkOf({ uuid: 'a-1', name: 'signals', last_duration: 7 }),
    checkOf({ uuid: 'a-2', name: 'Weekly Report', slug: 'weekly-report', grace: 172_800, last_duration: 7 }),
  ])
  expect(file.watches).toMatchObject([{ long: '10m' }, { process: 'weekly-report', late: { grace: '2d' } }])
  expect(file.watches[1]).not.toHaveProperty('long')
  expect(stderr).toContain('check Weekly Report: its limit of a run, 2d: a run takes less than MAX_RUN')
  expect(stderr).toContain("stint exec --process 'weekly-report' ")
})

test('hostile names and answers become watches with safe names, and lines that a shell reads as they are meant', async () => {
  const names = ["it's; rm -rf $(x) `y` 100%\\", '*', '\u001b[2J\n\u0085a', '', 'x'.repeat(300), '__proto__', '"']
  const checks = names.map((name, i) =>
    checkOf({
      uuid: `${String(i).padStart(8, '0')}-0000`,
      ...{ name, slug: '', tags: "'; reboot %\n*", ping_url: 'http://h/%\n0 0 * * * x' },
    }),
  )
  const { exitCode, stdout, stderr, file } = await plan(checks, [{ id: 'c', name: '', kind: '__proto__' }])
  expect(exitCode).toBe(0)
  expect(stdout + stderr).not.toContain('\u001b')
  const lines = linesUnder(stderr, 'Old address')
  expect(lines).toHaveLength(names.length)
  for (const line of lines) expect(line).toMatch(/ → stint exec --process '[^'%]+' --meta '[^'%]+' -- COMMAND$/)
  expect((await stint(['watch', 'apply', '-'], stdout)).exitCode).toBe(0)
  const processes = file.watches.map(({ process }: { process: string }) => process)
  expect(processes).toContain('its; rm -rf $(x) `y` 100')
  expect(processes.join()).not.toContain('*')
})

test.each<[unknown, unknown]>([
  [[{ ...CHECKS[0], grace: -1 }], []],
  [[{ ...CHECKS[0], timeout: 1e300 }], []],
  [[{ ...CHECKS[0], ping_url: 7 }], []],
  [[null], []],
  [{}, []],
  [[], [{ id: 1 }]],
])('an unexpected answer %# prints no file', async (checks, channels) => {
  expect(await plan(checks, channels)).toMatchObject({ exitCode: 2, stdout: '' })
})

test('the file comes from standard input, too; one that cannot be read is named', async () => {
  const piped = await stint(['import', 'healthchecks', '-'], JSON.stringify({ checks: CHECKS }))
  expect(JSON.parse(piped.stdout).watches).toHaveLength(7)
  for (const [path, why] of [
    ['/nowhere', 'cannot read file /nowhere'],
    [save('{"checks": ['), 'is not valid JSON'],
    [save('{"error": "wrong api key"}'), 'is no answer of Healthchecks to GET /api/v3/checks/'],
  ] as const)
    expect(await stint(['import', 'healthchecks', path])).toMatchObject({
      ...{ exitCode: 2, stdout: '' },
      stderr: expect.stringContaining(why),
    })
})
