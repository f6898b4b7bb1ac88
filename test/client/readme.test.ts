// Every example of src/client/README.md runs as it stands there, against a real intake.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startApp, type TestApp } from '../support/app.ts'
import { findPython, findPythonPackages, missing } from '../support/needs.ts'
import { readRepo } from '../support/readme.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'
import { writeClient } from './client-cast.ts'

const README = readRepo('src/client/README.md')
const examples = (language: string): string[] =>
  [...README.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, code]) => code!)
const PYTHON_CLIENT = join(import.meta.dir, '../../src/client/python')

const dir = tempDir('readme')
const backlog = join(dir, 'backlog')
let app: TestApp
beforeAll(async () => {
  app = await startApp({ signup: 'open' })
  await writeClient(dir)
  mkdirSync(join(dir, 'node_modules/@stint'), { recursive: true })
  await Bun.write(join(dir, 'node_modules/@stint/client/package.json'), '{"type":"module","exports":"./stint.js"}')
  await Bun.write(join(dir, 'node_modules/@stint/client/stint.js'), Bun.file(join(dir, 'stint.mjs')))
})
afterAll(() => app.stop())

const environment = (rest: Record<string, string> = {}) => {
  const { PATH = '', HOME = '' } = process.env
  return {
    PATH,
    HOME,
    STINT_URL: app.url,
    STINT_API_KEY: app.keys.writer,
    PYTHONPATH: PYTHON_CLIENT,
    PYTHONDONTWRITEBYTECODE: '1',
    ...rest,
  }
}
const here = (code: string) => code.replaceAll('/tmp/stint-backlog', backlog)
const summary = async (process: string) =>
  (await app.events())
    .filter((event) => event.process === process)
    .map(({ kind }) => kind)
    .sort()

/** What happened to a process, in the order of time; of an exception its last line. */
const told = async (process: string) =>
  (await app.events())
    .filter((event) => event.process === process)
    .sort((a, b) => a.stamp.us - b.stamp.us)
    .map((event) =>
      event.kind === 'exception'
        ? event.exception.split('\n').at(-1)
        : `${event.kind === 'end' && event.failed ? 'failed ' : ''}${event.kind}`,
    )

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
  await app.stop()
  app = await startApp({ signup: 'open' })
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
    await app.stop()
    app = await startApp({ signup: 'open' })
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

  test.skipIf(missing('python-packages') !== undefined)(
    'Celery, in a real worker whose children are forks',
    async () => {
      const queue = join(dir, 'queue')
      mkdirSync(queue)
      const folders = `{"data_folder_in": "${queue}", "data_folder_out": "${queue}", "control_folder": "${queue}"}`
      await Bun.write(
        join(dir, 'tasks.py'),
        `import time
${examples('python')[2]}
app.conf.update(broker_url="filesystem://", broker_transport_options=${folders}, worker_hijack_root_logger=False)

@app.task(name="broken")
def broken():
    raise OSError("disk full")

@app.task(name="again", bind=True, max_retries=1)
def again(self):
    if self.request.retries == 0:
        self.retry(exc=OSError("no route"), countdown=0)

@app.task(name="endless", time_limit=2)
def endless():
    time.sleep(60)
`,
      )
      const python = findPythonPackages()!
      const worker = Bun.spawn(
        // its children, too, end with it
        `timeout -k 5 50 ${python} -m celery -A tasks worker -c 1 --pool prefork -l ERROR`.split(' '),
        {
          cwd: dir,
          env: environment({ C_FORCE_ROOT: '1' }),
          stdin: 'ignore',
          stdout: 'ignore',
          stderr: 'ignore',
        },
      )
      try {
        await run([python, '-c', 'from tasks import *; add.delay(1, 2); broken.delay(); again.delay()'])
        await until('both attempts have ended', async () => (await told('again')).at(-1) === 'end')
        await run([python, '-c', 'from tasks import *; endless.delay()'])
        await until('a time limit has killed a task', async () => (await told('endless')).includes('failed end'))
      } finally {
        worker.kill('SIGTERM')
        await worker.exited
      }
      expect(await told('add')).toEqual(['start', 'end'])
      expect(await told('broken')).toEqual(['start', 'OSError: disk full', 'failed end'])
      const retry = "celery.exceptions.Retry: Retry in 0s: OSError('no route')"
      expect(await told('again')).toEqual(['start', retry, 'failed end', 'start', 'end'])
      expect(await told('endless')).toEqual([
        'start',
        'billiard.exceptions.TimeLimitExceeded: TimeLimitExceeded(2,)',
        'failed end',
      ])
    },
    60_000,
  )
})

test('ping addresses', async () => {
  const [, , pings] = examples('sh')
  const token = (await app.rooms.accounts.keys.create(app.account, 'cron', ['ping'])).secret
  expect(await run(['sh', '-c', pings!], { TOKEN: token })).toBe('OKOK')
  expect(await summary('nightly-import')).toEqual(['end', 'exception', 'start'])
})
