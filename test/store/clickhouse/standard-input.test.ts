import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { createCaller, signUpAt } from '../../support/caller.ts'
import { engineMissing } from '../../support/engine.ts'
import { untilShipped } from '../../support/oracle.ts'
import { takePort } from '../../support/ports.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { until } from '../../support/until.ts'

const MAIN = join(import.meta.dir, '../../../src/main.ts')

test.skipIf(engineMissing !== undefined)('what waits on the standard input of Stint is not stored', async () => {
  const { PATH = '', HOME = '' } = process.env
  const port = String(takePort())
  const env = { PATH, HOME, PORT: port, DATA_DIR: tempDir('standard-input'), UV_THREADPOOL_SIZE: '8' }
  const child = Bun.spawn([process.execPath, MAIN], { env, stdin: new Blob(['y\n'.repeat(1000)]), stdout: 'ignore' })
  try {
    const url = `http://127.0.0.1:${port}`
    await until('it is ready', () =>
      fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    )
    const { secret } = await signUpAt(url)
    const ada = createCaller(url, { key: secret })
    expect((await ada.post('/v1/start', { process: 'job' })).status).toBe(201)
    await untilShipped(url, 60_000)
    expect((await ada.get('/api/timings')).json.timings).toMatchObject([{ process: 'job', state: 'running' }])
  } finally {
    child.kill('SIGKILL')
    await child.exited
  }
})
