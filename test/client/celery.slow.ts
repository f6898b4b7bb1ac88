// The example for Celery in src/client/README.md, in a real worker whose children are forks.
import { expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startApp } from '../support/app.ts'
import { findPythonPackages, missing } from '../support/needs.ts'
import { readRepo } from '../support/readme.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'
import { pythonEnv } from './python/run-unittest.ts'

const EXAMPLE = [...readRepo('src/client/README.md').matchAll(/^```python\n(.*?)^```/gms)][2]![1]!

test.skipIf(missing('python-packages') !== undefined)(
  'tasks of Celery are runs, also retried and killed ones',
  async () => {
    await using app = await startApp()
    const dir = tempDir('celery')
    const environment = (rest: Record<string, string> = {}) =>
      pythonEnv({ STINT_URL: app.url, STINT_API_KEY: app.keys.writer, ...rest })
    const run = async (command: readonly string[]) => {
      const child = Bun.spawn([...command], { cwd: dir, env: environment(), stdin: 'ignore', stderr: 'pipe' })
      expect(await new Response(child.stderr).text()).toBe('')
      expect(await child.exited).toBe(0)
    }
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

    const queue = join(dir, 'queue')
    mkdirSync(queue)
    const folders = `{"data_folder_in": "${queue}", "data_folder_out": "${queue}", "control_folder": "${queue}"}`
    await Bun.write(
      join(dir, 'tasks.py'),
      `import time
${EXAMPLE}
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
)
