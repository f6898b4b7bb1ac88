// The READMEs are compared with the code: tables both ways, links, and the first requests by sending them to a real process.
import { afterAll, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { Glob } from 'bun'
import { problemTable } from '../src/problem.ts'
import type { Route } from '../src/wire/route.ts'
import { signUpAt } from './support/caller.ts'
import { missing } from './support/needs.ts'
import { createStintProcess } from './support/process.ts'
import { DOCUMENTS, ROOT, readRepo, sectionUnder, tableUnder } from './support/readme.ts'
import { startReceiver } from './support/receiver.ts'
import { settingsDocument } from './support/settings-table.ts'
import { tempDir } from './support/temp-dir.ts'
import { until } from './support/until.ts'

const README = readRepo('README.md')

test('has at most 160 lines', () => {
  expect(README.trimEnd().split('\n').length).toBeLessThanOrEqual(160)
})

/** As GitHub names a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

/** The text under an anchor, down to the next heading; undefined if no heading has it. Without an anchor the whole text. */
const textAt = (path: string, anchor: string | undefined): string | undefined =>
  anchor === undefined
    ? readRepo(path)
    : readRepo(path)
        .split(/^#+ /m)
        .find((section) => anchorOf(section.split('\n', 1)[0]!) === anchor)

function follow(from: string, link: string): { path: string; anchor: string | undefined } {
  const [target, anchor] = link.split('#') as [string, string?]
  return { path: target === '' ? from : normalize(join(dirname(from), target)), anchor }
}

test('every relative link in a document leads to a file, and to a heading of it', () => {
  const broken = DOCUMENTS.flatMap((from) =>
    [
      ...readRepo(from)
        .replaceAll(/```.*?```/gs, '')
        .matchAll(/\]\((?!https?:)([^)]+)/g),
    ].flatMap(([, link]) => {
      const { path, anchor } = follow(from, link!)
      const leads = existsSync(join(ROOT, path)) && (anchor === undefined || textAt(path, anchor) !== undefined)
      return leads ? [] : [`${from} -> ${link}`]
    }),
  )
  expect(broken).toEqual([])
})

test('every script and file of a command in a document exists', () => {
  const { scripts } = JSON.parse(readRepo('package.json'))
  const missing = DOCUMENTS.flatMap((from) => {
    const text = readRepo(from)
    const named = [...text.matchAll(/\bbun run ([\w:]+)/g)].map(([, script]) => script!)
    const files = [...text.matchAll(/(?<![\w/.@-])(?:src|test)\/[\w/.-]*\w/g)].map(([path]) => path)
    return [
      ...named.filter((script) => !(script in scripts)),
      ...files.filter((path) => !existsSync(join(ROOT, path))),
    ].map((name) => `${from}: ${name}`)
  })
  expect(missing).toEqual([])
})

test.each([
  ['time a cron job', ['src/cli/README.md#time-a-command'], 'stint exec --process'],
  ['time a part of a TypeScript program', ['src/client/README.md#typescript'], 'await run('],
  ['time a part of a Python program', ['src/client/README.md#python'], 'with stint.run('],
  ['send from a language without a client', ['src/http/README.md#writing'], '/v1/start'],
  ['find the runs that failed', ['src/cli/README.md#ask-questions'], 'failed'],
  ['be notified when a job is late', ['src/watch/README.md#conditions'], '`late`'],
  ['replace a key', ['src/http/README.md#keys-watches-and-alerts'], '/rotate'],
  ['invite a colleague', ['src/http/README.md#people-and-accounts'], '/api/invitations'],
  ['run it on Kubernetes', ['src/deploy/README.md', 'kubernetes/stint.yaml'], 'kubectl -n stint apply'],
  ['back up and upgrade', ['src/deploy/README.md#backup-and-restore'], 'kill -STOP'],
  ['find out why no data arrives', ['src/deploy/troubleshooting.md'], 'a 201, but no data'],
] as [task: string, links: [string, string?], text: string][])(
  '%s: at most two links from README',
  (_, links, text) => {
    let at: ReturnType<typeof follow> = { path: 'README.md', anchor: undefined }
    for (const link of links as string[]) {
      expect(textAt(at.path, at.anchor)).toContain(`](${link})`)
      at = follow(at.path, link)
    }
    expect(textAt(at.path, at.anchor)).toContain(text)
  },
)

test('the reading path of src/README.md names files that exist, at most 3,000 lines of them', () => {
  const named = [...sectionUnder('src/README.md', 'A reading path for one evening').matchAll(/`([\w/-]+\.ts)`/g)]
  expect(named.length).toBeGreaterThan(20)
  const lines = named.map(([, path]) => readRepo(`src/${path}`).split('\n').length)
  expect(lines.reduce((a, b) => a + b)).toBeLessThanOrEqual(3000)
})

test('src/http/README.md names every path of /api and /auth, and no other', async () => {
  const isRoute = (it: unknown): it is Route => typeof it === 'object' && it !== null && 'path' in it && 'access' in it
  const files = [...new Glob('src/wire/*.ts').scanSync(ROOT)]
  const modules: object[] = await Promise.all(files.map((path) => import(join(ROOT, path))))
  const routes = modules
    .flatMap((it) => Object.values(it).filter(isRoute))
    .filter(({ path }) => /^\/(api|auth)\//.test(path))
  const documented = [...readRepo('src/http/README.md').matchAll(/\/(?:api|auth)\/[\w:/-]+/g)].map(([path]) => path)
  const paths = new Set(routes.map(({ path }) => path))
  expect([...new Set(documented)].filter((path) => !paths.has(path))).toEqual([])
  expect([...paths].filter((path) => !documented.includes(path))).toEqual([])
})

test('the table of errors in src/http/README.md is that of the code', () => {
  const documented = tableUnder('src/http/README.md', 'Errors').map(([code, status, title]) => [
    code!.replaceAll('`', ''),
    Number(status),
    title,
  ])
  const real = Object.entries(problemTable).map(([code, { status, title }]) => [code, status, title])
  expect(documented).toEqual(real)
})

test('the table of settings is that of the code; `bun run settings` writes it', () => {
  const { path, text, written } = settingsDocument()
  expect(sectionUnder(path, 'Settings')).toContain('| variable ')
  expect(text).toBe(written)
})

describe.skipIf(missing('chdb') !== undefined)('the first requests', () => {
  const monitor = startReceiver()
  const stint = createStintProcess({
    ...{ NOTIFY_PRIVATE: 'true', SIGNUP: 'open' },
    STINT_HEARTBEAT_URL: `${monitor.url}/your-uuid`,
  })
  afterAll(async () => {
    await stint.close()
    monitor[Symbol.dispose]()
  })
  const VISIBLE_WITHIN_MS = 60_000

  /** What an answer is made of, without the values that differ from run to run. */
  function shapeOf(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(shapeOf)
    if (value === null || typeof value !== 'object') return value === null ? null : typeof value
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]))
  }

  /** Each command with the answer that the README prints under it, if any. */
  const section = ['The first run', 'Examples'].map((heading) => sectionUnder('src/http/README.md', heading)).join('')
  const steps = [...section.matchAll(/```sh\n(.*?)```\n(?:\n```json\n(.*?)```)?/gs)].map(([, command, answer]) => ({
    command: command!,
    answer: answer === undefined ? undefined : JSON.parse(answer),
  }))

  test('are answered as printed', async () => {
    await stint.start()
    let key = ''
    for (const { command, answer } of steps) {
      if (answer === undefined) continue // the line that puts the key into the shell
      const script = command.replaceAll('http://127.0.0.1:7070', stint.url)
      const ask = async (): Promise<unknown> => {
        const shell = Bun.spawn(['sh', '-c', script], {
          env: { PATH: process.env.PATH ?? '', KEY: key },
          stderr: 'inherit',
        })
        return JSON.parse(await new Response(shell.stdout).text())
      }
      const deadline = performance.now() + VISIBLE_WITHIN_MS
      let got = await ask()
      const isQuestion = !command.includes(' -d ')
      while (isQuestion && !Bun.deepEquals(shapeOf(got), shapeOf(answer)) && performance.now() < deadline) {
        await Bun.sleep(50)
        got = await ask()
      }
      expect(shapeOf(got), command).toEqual(shapeOf(answer))
      key = (got as { key?: { secret: string } }).key?.secret ?? key
    }
    expect(steps.length).toBeGreaterThan(8)
  })

  test('cron in three lines, then two commands to be notified', async () => {
    using receiver = startReceiver(() => new Response('received'))
    const home = tempDir('first-hour')
    const bin = join(home, 'bin')
    const programs = {
      sudo: `"$1" "$2" ${bin}/stint`, // install, into a directory of this test
      crontab: `case $1 in -l) cat ${home}/crontab 2>/dev/null;; -) cat >${home}/new; mv ${home}/new ${home}/crontab;; esac`,
      npx: `shift 2; exec ${process.execPath} "$@"`, // --yes bun@VERSION
    }
    for (const [name, text] of Object.entries(programs)) {
      await Bun.write(join(bin, name), `#!/bin/sh\n${text}\n`)
      chmodSync(join(bin, name), 0o755)
    }
    const { bySession } = await signUpAt(stint.url, 'grace@example.com')
    const { secret } = (await bySession.post('/api/keys', { name: 'cron host', scopes: ['write'] })).json.key
    const run = async (script: string, env: Record<string, string> = {}) => {
      const child = Bun.spawn(['sh', '-c', script], {
        cwd: ROOT,
        env: { PATH: `${bin}:${process.env.PATH}`, HOME: home, STINT_URL: stint.url, ...env },
        stderr: 'pipe',
      })
      const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
      return { exitCode: await child.exited, stdout, stderr }
    }
    const scriptUnder = (heading: string) => /```sh\n(.*?)```/s.exec(sectionUnder('README.md', heading))![1]!

    const cron = scriptUnder('Cron in three lines').replaceAll('http://127.0.0.1:7070', stint.url)
    expect(cron.trim().split('\n').length).toBe(3)
    // stint.sh stays in the directory in which the lines are pasted
    expect(await run(`cd ${home}\n${cron}`, { KEY: secret })).toMatchObject({ exitCode: 0, stderr: '' })
    const [, line] = /^0 3 \* \* \* {2}(.*)$/m.exec(await Bun.file(join(home, 'crontab')).text())!
    const job = line!
      .replace('/usr/local/bin/', `${bin}/`)
      .replace('/opt/import.sh', 'sh -c "echo row 3 is bad >&2; exit 3"')

    const key = (await bySession.post('/api/keys', { name: 'laptop', scopes: ['write', 'read', 'manage'] })).json.key
    const commands = scriptUnder('Be notified in two commands').replace('https://ntfy.sh/', `${receiver.url}/`)
    expect(commands.trim().split('\n').length).toBe(2)
    const notified = await run(commands, { STINT_API_KEY: key.secret })
    expect([notified.exitCode, notified.stdout]).toEqual([0, expect.stringMatching(/^cha_\w+\nwat_\w+\n$/)])
    expect(notified.stderr).toContain('Delivered: 200 received')
    expect(receiver.requests.map(({ path }) => path)).toEqual(['/your-topic'])

    expect(await run(job, { STINT_URL: '' })).toMatchObject({ exitCode: 3, stderr: 'row 3 is bad\n' })
    await until('the alert', () => receiver.requests.length === 2)
    expect(receiver.requests[1]!.text).toContain('nightly import')
  })

  test('STINT_HEARTBEAT_URL is requested, set as in the command that is printed', async () => {
    expect(README).toMatch(/^STINT_HEARTBEAT_URL=https:\/\/\S+ npx --yes bun@[\d.]+ run start$/m)
    await until('the heartbeat', () => monitor.requests.length > 0)
    expect(monitor.requests[0]).toMatchObject({ method: 'POST', path: '/your-uuid' })
  })
})
