// Every example of src/client/README.md runs as it stands there, against a real intake. That of Celery: celery.slow.ts.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startApp, type TestApp } from '../support/app.ts'
import { type SignedUp, signUpAt } from '../support/caller.ts'
import { findPython, missing } from '../support/needs.ts'
import { readRepo } from '../support/readme.ts'
import { tempDir } from '../support/temp-dir.ts'
import { writeClient } from './client-cast.ts'
import { pythonEnv } from './python/run-unittest.ts'

const README = readRepo('src/client/README.md')
const examples = (language: string): string[] =>
  [...README.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, code]) => code!)

const dir = tempDir('readme')
const backlog = join(dir, 'backlog')
let app: TestApp
/** An account per test: the examples name the same processes. */
let person: SignedUp
let people = 0
beforeAll(async () => {
  app = await startApp({ signup: 'open' })
  await writeClient(dir)
  mkdirSync(join(dir, 'node_modules/@stint'), { recursive: true })
  await Bun.write(join(dir, 'node_modules/@stint/client/package.json'), '{"type":"module","exports":"./stint.js"}')
  await Bun.write(join(dir, 'node_modules/@stint/client/stint.js'), Bun.file(join(dir, 'stint.mjs')))
})
afterAll(() => app.stop())
beforeEach(async () => {
  person = await signUpAt(app.url, `person${people++}@example.com`)
})

const environment = (rest: Record<string, string> = {}) =>
  pythonEnv({ STINT_URL: app.url, STINT_API_KEY: person.secret, ...rest })
const here = (code: string) => code.replaceAll('/tmp/stint-backlog', backlog)
const summary = async (process: string) =>
  (await app.events())
    .filter((event) => event.account === person.account && event.process === process)
    .map(({ kind }) => kind)
    .sort()

async function run(command: readonly string[], rest: Record<string, string> = {}): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd: dir,
    env: environment(rest),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect(errors).toBe('')
  expect(await child.exited).toBe(0)
  return output
}

test('the shell client is installed and times a command', async () => {
  const bin = join(dir, 'bin')
  mkdirSync(bin)
  // as sudo install, into a directory of this test
  await Bun.write(join(bin, 'sudo'), `#!/bin/sh\n"$1" "$2" ${bin}/stint\n`)
  chmodSync(join(bin, 'sudo'), 0o755)
  const script = examples('sh')[0]!
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: dir, PUBLIC_URL: app.url }
  expect(await run(['sh', '-ec', script], env)).toBe('120 rows\n')
  expect(new Set(await summary('nightly import'))).toEqual(new Set(['end', 'start'])) // a start may come twice
})

test('TypeScript', async () => {
  const found = examples('ts')
  expect(found).toHaveLength(2)
  for (const [i, code] of found.entries()) {
    await Bun.write(join(dir, `example-${i}.ts`), here(code))
    await run([process.execPath, `example-${i}.ts`])
  }
  expect(await summary('nightly import')).toEqual(['end', 'exception', 'metrics', 'start'])
  expect(await summary('hourly report')).toEqual(['end', 'metrics', 'output', 'start'])
  expect(await summary('two halves')).toEqual(['end', 'start'])
  expect(await summary('worker')).toEqual(['metrics'])
  expect(await summary('kept across crashes')).toEqual(['end', 'start'])
})

describe.skipIf(missing('python') !== undefined)('Python', () => {
  test('a context manager, decorators, a client of its own', async () => {
    await run([findPython()!, '-c', here(examples('python')[0]!)])
    expect(await summary('nightly import')).toEqual(['end', 'exception', 'metrics', 'output', 'start'])
    expect(await summary('__main__.fetch')).toEqual(['end', 'metrics', 'start'])
    expect(await summary('hourly report')).toEqual(['end', 'start'])
    expect(await summary('two halves')).toEqual(['end', 'start'])
  })

  test('logging', async () => {
    await run([findPython()!, '-c', examples('python')[1]!])
    expect(await summary('billing')).toEqual(['exception'])
  })
})

test('ping addresses', async () => {
  const [, , pings] = examples('sh')
  const token = (await app.rooms.accounts.keys.create(person.account, 'cron', ['ping'])).secret
  expect(await run(['sh', '-c', pings!], { TOKEN: token })).toBe('OKOK')
  expect(await summary('nightly-import')).toEqual(['end', 'exception', 'start'])
})
