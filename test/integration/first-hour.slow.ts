// The first hour of somebody with Node alone: a clone of this repository without Bun and dependencies, to a notification
// at a receiver, and a cron job with nothing but curl. Prints the steps and their seconds.
import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { closeAtEnd } from '../support/leftovers.ts'
import { missing } from '../support/needs.ts'
import { takePort } from '../support/ports.ts'
import { ROOT, readRepo } from '../support/readme.ts'
import { startReceiver } from '../support/receiver.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const STEPS_MAX = 4
const WITHIN_MS = 300_000
const PASSWORD = 'correct horse battery staple'
const [withNode] = /npx --yes bun@[\d.]+/.exec(readRepo('README.md'))!

const receiver = startReceiver()
afterAll(() => receiver.close())

/** A home and a PATH with Node and the system's tools, in which Bun is found only by npx. */
function machine(env: Record<string, string>) {
  const home = tempDir('first-hour')
  const bin = join(home, 'bin')
  mkdirSync(bin)
  for (const name of ['node', 'npm', 'npx']) symlinkSync(Bun.which(name)!, join(bin, name))
  const path = [bin, ...['/usr/bin', '/bin'].filter((dir) => dir !== dirname(process.execPath))].join(':')
  const spawn = (line: string, cwd: string, stdin = '') =>
    Bun.spawn(['/bin/sh', '-c', line], {
      cwd,
      env: { PATH: path, HOME: home, ...env },
      stdin: Buffer.from(stdin),
      stdout: 'pipe',
      stderr: 'pipe',
    })
  return {
    home,
    spawn,
    async run(line: string, cwd: string, stdin?: string) {
      const child = spawn(line, cwd, stdin)
      const [out, err, code] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ])
      return { out, said: out + err, code }
    },
  }
}

test.skipIf(missing('node') !== undefined)(
  'from a clone and Node alone to a notification, and a cron job',
  async () => {
    const port = takePort()
    const url = `http://127.0.0.1:${port}`
    const { home, run, spawn } = machine({ PORT: String(port), STINT_URL: url, NOTIFY_PRIVATE: 'true' })
    const clone = join(home, 'stint')
    expect((await run(`git clone -q "${ROOT}" stint`, home)).code).toBe(0)
    const steps: string[] = []
    const since = performance.now()
    const seconds = () => ((performance.now() - since) / 1000).toFixed(1)
    const step = (what: string) => steps.push(`${steps.length + 1}. ${what} (${seconds()} s)`)

    const server = spawn(`exec ${withNode} run start`, clone)
    closeAtEnd(async () => server.kill())
    const isReady = () =>
      fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      )
    await until('the server is ready', isReady, WITHIN_MS, 200)
    step(`${withNode} run start`)

    const stint = async (words: string, stdin = '') => {
      const answer = await run(`${withNode} run --silent stint ${words}`, clone, stdin)
      expect(answer, answer.said).toMatchObject({ code: 0 })
      step(`stint ${words}`)
      return answer.out
    }
    const key = (await stint('account create --email ada@example.com --password-stdin', PASSWORD)).trim()
    await stint(`channel add "on call" ${receiver.url}`)
    await stint('watch add "nightly import" --failed 1 --channel "on call"')
    expect(steps.length).toBeLessThanOrEqual(STEPS_MAX)

    // the job's machine has a shell and curl
    const job = machine({ STINT_URL: url, STINT_API_KEY: key })
    expect((await job.run(`curl -fsSo stint.sh ${url}/clients/stint.sh`, job.home)).code).toBe(0)
    const failing = `sh stint.sh exec --process "nightly import" -- sh -c 'echo "disk is full" >&2; exit 3'`
    expect((await job.run(failing, job.home)).code).toBe(3)
    const alerts = () =>
      receiver.requests.map(({ text }) => JSON.parse(text)).filter(({ type }) => type === 'alert.firing')
    await until('the failure is notified', () => alerts().length === 1)
    expect(alerts()[0].data).toMatchObject({ process: 'nightly import', exception: 'disk is full' })
    console.log([...steps, `notified after ${seconds()} s`].join('\n'))

    server.kill()
    await server.exited
  },
)
