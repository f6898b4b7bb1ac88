// The READMEs are compared with the code: tables both ways, links, and the first requests by sending them to a real process.
import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { Glob } from 'bun'
import { problemTable } from '../src/problem.ts'
import { SETTINGS, settingsOf } from '../src/settings.ts'
import type { Route } from '../src/wire/route.ts'
import { missing } from './support/needs.ts'
import { createStintProcess } from './support/process.ts'
import { READMES, ROOT, readRepo, sectionUnder, tableUnder } from './support/readme.ts'

const README = readRepo('README.md')

test('has at most 230 lines', () => {
  expect(README.trimEnd().split('\n').length).toBeLessThanOrEqual(230)
})

test('every relative link in a README leads to a file', () => {
  const missing = READMES.flatMap((path) =>
    [...readRepo(path).matchAll(/\]\((?!https?:|#)([^)#]+)/g)]
      .map(([, target]) => normalize(join(dirname(path), target!)))
      .filter((target) => !existsSync(join(ROOT, target)))
      .map((target) => `${path} -> ${target}`),
  )
  expect(missing).toEqual([])
})

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

test('the table of settings is that of the code', () => {
  const rows = settingsOf(SETTINGS).map(({ variable, isSecret, unset, defaultWords, about }) => [
    `\`${variable}\`${isSecret ? `, \`${variable}_FILE\`` : ''}`,
    defaultWords ?? (typeof unset === 'object' && unset.text !== '' ? `\`${unset.text}\`` : ''),
    about,
  ])
  expect(tableUnder('README.md', 'Settings')).toEqual(rows)
})

describe.skipIf(missing('chdb') !== undefined)('the first requests', () => {
  const stint = createStintProcess()
  afterAll(() => stint.close())
  const VISIBLE_WITHIN_MS = 60_000

  /** What an answer is made of, without the values that differ from run to run. */
  function shapeOf(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(shapeOf)
    if (value === null || typeof value !== 'object') return value === null ? null : typeof value
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]))
  }

  /** Each command with the answer that the README prints under it, if any. */
  const section = sectionUnder('README.md', 'The first run') + sectionUnder('src/http/README.md', 'Examples')
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
})
