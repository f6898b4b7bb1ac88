// The demo is isolated: it ignores the caller's settings and leaves nothing behind when it ends or fails.
import { expect, test } from 'bun:test'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withServer } from '../../src/demo/run-server.ts'
import { missing } from '../support/needs.ts'
import { startReceiver } from '../support/receiver.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const MAIN = join(import.meta.dir, '../../src/demo/main.ts')

const isGone = async (url: string) =>
  !(await fetch(`${url}/livez`).then(
    (answer) => answer.ok,
    () => false,
  ))

test.skipIf(missing('chdb') !== undefined)('the demo ignores the settings of its caller', async () => {
  const other = startReceiver() // a store and a port that the demo has no business with
  const [tmp, cwd] = [tempDir('demo-tmp'), tempDir('demo-cwd')]
  const settings = {
    INFLUX_URL: other.url,
    INFLUX_TOKEN: 't',
    INFLUX_ORG: 'o',
    INFLUX_BUCKET: 'b',
    CLICKHOUSE_URL: other.url,
    HOST: '0.0.0.0',
    PORT: String(other.port),
    SIGNUP: 'closed',
    SERVICE_NAME: 'acme',
  }
  writeFileSync(
    join(cwd, '.env'),
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  )
  const child = Bun.spawn([process.execPath, MAIN], {
    cwd,
    env: { PATH: process.env.PATH!, HOME: tmp, TMPDIR: tmp, ...settings },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let said = ''
  const reading = (async () => {
    for await (const chunk of child.stdout) said += Buffer.from(chunk).toString()
  })()
  await until(`the demo is ready:\n${said}`, () => said.includes('until Ctrl-C') || child.exitCode !== null, 60_000)
  expect(said).toContain('until Ctrl-C')
  const url = /Console {3}(http:\/\/127\.0\.0\.1:\d+)\//.exec(said)![1]!
  expect(url).not.toBe(other.url)
  expect(await isGone(url)).toBe(false)

  child.kill('SIGINT')
  expect(await child.exited).toBe(0)
  await reading
  expect(await isGone(url)).toBe(true)
  expect(other.requests).toEqual([])
  expect(readdirSync(tmp).filter((name) => name.startsWith('stint-demo-'))).toEqual([])
  await other.close()
})

test.skipIf(missing('chdb') !== undefined)('a demo that fails leaves no server behind', async () => {
  let address = ''
  const failing = withServer(async (url) => {
    address = url
    expect(await isGone(url)).toBe(false)
    throw new Error('no account')
  })
  await expect(failing).rejects.toThrow('no account')
  expect(await isGone(address)).toBe(true)
})
