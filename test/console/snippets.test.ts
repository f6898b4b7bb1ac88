// Every snippet of the Welcome page runs as it is pasted, against a real intake: a good run, and one whose job fails. The failure is sent,
// and it reaches the caller.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fillIn } from '../../src/console/welcome/snippets.ts'
import { type Snippets, tryLine } from '../../src/wire/snippets.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const REPO = join(import.meta.dir, '../..')
const dir = tempDir('snippets')
let app: TestApp
let token = ''
let served: Snippets
beforeAll(async () => {
  app = await startApp()
  mkdirSync(join(dir, 'node_modules'), { recursive: true })
  symlinkSync(join(REPO, 'node_modules/@opentelemetry'), join(dir, 'node_modules/@opentelemetry'))
  // sudo install, into a directory of this test
  await Bun.write(join(dir, 'bin/sudo'), `#!/bin/sh\n"$1" "$2" ${join(dir, 'bin/stint')}\n`)
  chmodSync(join(dir, 'bin/sudo'), 0o755)
  served = await (await fetch(`${app.url}/clients/recipes`)).json()
  token = (await app.rooms.accounts.keys.create(app.account, 'ping', ['ping'])).secret
  for (const name of ['cron', 'TypeScript', 'Python']) {
    const [, line] = /^(?:(?:#|\/\/) to install: |# )(.*)/.exec(
      snippets().find((snippet) => snippet.name === name)!.text,
    )!
    const install = Bun.spawn(['/bin/sh', '-c', line!], { cwd: dir, env: environment(), stderr: 'inherit' })
    expect([name, await install.exited]).toEqual([name, 0])
  }
})
afterAll(() => app.stop())

const filled = (list: Snippets['first']) => fillIn(list, { baseUrl: app.url, secret: app.keys.writer, token })
const snippets = () => filled(served.first)
const environment = () => ({ PATH: `${join(dir, 'bin')}:${process.env.PATH}`, HOME: dir })
const NAMES = ['cron', 'shell', 'TypeScript', 'Python', 'curl', 'OpenTelemetry']
const BREAK: Readonly<Record<string, string>> = {
  TypeScript: 'await Promise.reject(new Error("row 3 is bad")) // your code',
  Python: 'raise ValueError("row 3 is bad")  # your code',
  OpenTelemetry: 'await Promise.reject(new Error("row 3 is bad")) // your code',
}
const failing = (name: string, text: string): string => {
  const broken = text.replace(/sleep 0\.5|\S[^\n]*(#|\/\/) your code/, BREAK[name] ?? "sh -c 'exit 3'")
  expect(broken).not.toBe(text)
  return broken
}

/** Runs a snippet and returns its exit code; of a crontab, that of its line. */
async function run(name: string, text: string): Promise<number> {
  const script = name === 'cron' ? text.replace(/^\*\/5 \* \* \* \* \/usr\/local\/bin\//m, '') : text
  const file = join(dir, `${name}${name === 'Python' ? '.py' : BREAK[name] === undefined ? '.sh' : '.ts'}`)
  await Bun.write(file, script)
  const [command] = file.endsWith('.py') ? ['python3'] : file.endsWith('.ts') ? [process.execPath] : ['/bin/sh']
  const env = environment()
  const child = Bun.spawn([command!, file], { cwd: dir, env, stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' })
  return child.exited
}

/** `stint exec` keeps what Stint has not answered within 20 ms, and sends it later. */
async function flush(): Promise<void> {
  const env = { ...process.env, HOME: dir, STINT_URL: app.url, STINT_API_KEY: app.keys.writer }
  await Bun.spawn([join(dir, 'bin/stint'), 'flush'], { env, stdout: 'ignore', stderr: 'ignore' }).exited
}

/** As a store would have them: an event that was sent twice is one. */
async function eventsOf(meta: string) {
  const sent = (await app.events()).filter((event) => event.meta === meta)
  return [...new Map(sent.map((event) => [JSON.stringify(event), event])).values()]
}

test('there is a snippet for each way to send, with its install line first', () => {
  expect(snippets().map(({ name }) => name)).toEqual(['ping', ...NAMES])
  for (const { text } of snippets()) expect(text.split('\n', 1)[0]).toMatch(/^(#|\/\/) .*\binstall\b/)
})

test('the first one is a ping: one line of curl is a completed run', async () => {
  expect(await run('ping', snippets()[0]!.text)).toBe(0)
  const sent = (await app.events()).filter((event) => event.process === 'first-steps')
  expect(sent.map(({ kind }) => kind)).toEqual(['start', 'end'])
})

const HERE = NAMES.filter((name) => name !== 'Python' || Bun.which('python3') !== null)
test.concurrent.each(HERE)('the snippet for %s sends a run, and a failed run', async (name) => {
  const { text } = snippets().find((snippet) => snippet.name === name)!
  expect(await run(name, text)).toBe(0)
  const ends = async () => {
    if (text.includes('stint exec')) await flush()
    return (await eventsOf(name)).filter(({ kind }) => kind === 'end')
  }
  await until('the end arrived', async () => (await ends()).length === 1)
  expect(await ends()).not.toMatchObject([{ failed: true }])

  const exitCode = await run(name, failing(name, text))
  if (name !== 'curl') expect(exitCode).not.toBe(0)
  await until('the failed end arrived', async () => (await ends()).length === 2)
  const events = await eventsOf(name)
  const count = (of: string) => events.filter(({ kind }) => kind === of).length
  expect([count('start'), count('end')]).toEqual([2, 2])
  expect(events.filter((event) => event.kind === 'end' && event.failed)).toHaveLength(1)
  if (name !== 'curl') expect(count('exception')).toBe(1)
})

test('the recipes are tabs, too, with address and key filled in', async () => {
  const recipes = filled(served.schedulers)
  expect(recipes.length).toBeGreaterThan(14)
  for (const { name, hint, text } of recipes) {
    expect([name, `${hint}\n${text}`]).toEqual([
      name,
      expect.not.stringMatching(/example\.com\/(ping|clients)|ADDRESS|\/TOKEN|"KEY"|tests/),
    ])
    expect(snippets().map((snippet) => snippet.name)).not.toContain(name)
  }
  const go = recipes.find(({ name }) => name === 'Go')!
  expect(go.text).toContain(`${app.url}/ping/${token}/`)
})

test.each([
  [['write', 'read'], 'metrics'],
  [['ping'], 'end'],
  [['read', 'manage'], undefined],
  [['manage'], undefined],
] as const)('the line beside a new key of %j works, with the key in it once', async (scopes, kind) => {
  const process = kind === 'end' ? 'nightly import' : undefined // a ping key may belong to one
  const { secret } = await app.rooms.accounts.keys.create(app.account, 'try', scopes, undefined, process && { process })
  const line = tryLine(app.url, { scopes, process, secret })
  expect([line.split(secret).length, line.includes('\n')]).toEqual([2, false])
  const count = async () => (await app.events()).filter((event) => event.kind === kind).length
  const before = await count()
  const child = Bun.spawn(['/bin/sh', '-c', line], { stdin: 'ignore' })
  const said = await new Response(child.stdout).text()
  expect([await child.exited, said]).toEqual([0, expect.not.stringContaining('"code"')])
  expect((await count()) - before).toBe(kind === undefined ? 0 : 1)
})
