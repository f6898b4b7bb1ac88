// Random kills of callers and of the server: no event is lost whose call had returned while the backlog was on, and
// none is stored twice. STINT_TEST_KILLS sets how many callers are killed; each server lives through a few of them.
import { afterAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findNode, findPython } from '../support/needs.ts'
import { type Caller, createStintProcess } from '../support/process.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'
import { writeClient } from './client-cast.ts'

const KILLS = Number(process.env.STINT_TEST_KILLS ?? 12)
/** Callers that run at once. */
const CROWD = 4
const PYTHON_CLIENT = join(import.meta.dir, '../../src/client/python')

const dir = tempDir('kills')
const backlog = join(dir, 'backlog')
const server = createStintProcess({ LOG_LEVEL: 'warn' })
afterAll(() => server.close())

/** Each caller sends numbers from 1 on and writes down each one when its call has returned. */
const NODE = `
import { openSync, writeSync } from 'node:fs'
import { metrics } from './stint.mjs'
const [process_, log] = process.argv.slice(2)
const fd = openSync(log, 'w')
let i = 0
setInterval(() => {
  for (let n = 0; n < 3; n++) {
    metrics({ i: ++i }, { process: process_ })
    writeSync(fd, i + '\\n')
  }
}, 2)
`
const PYTHON = `
import os, sys, time, stint
process, log = sys.argv[1:]
fd = os.open(log, os.O_CREAT | os.O_WRONLY)
i = 0
while True:
    for _ in range(3):
        i += 1
        stint.metrics({"i": i}, process)
        os.write(fd, b"%d\\n" % i)
    time.sleep(0.002)
`

function launch(process_: string, log: string, secret: string) {
  const isPython = Number(process_.split(' ')[1]) % 2 === 1 && findPython() !== undefined
  const command = isPython
    ? [findPython()!, join(dir, 'caller.py')]
    : [findNode() ?? process.execPath, join(dir, 'caller.mjs')]
  const { PATH = '', HOME = '' } = process.env
  return Bun.spawn([...command, process_, log], {
    env: {
      PATH,
      HOME,
      PYTHONPATH: PYTHON_CLIENT,
      PYTHONDONTWRITEBYTECODE: '1',
      STINT_URL: server.url,
      STINT_API_KEY: secret,
      STINT_BACKLOG: backlog,
    },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
}

/** The last number whose call had returned. */
const returned = (log: string): number => {
  try {
    return Number(readFileSync(log, 'utf8').trimEnd().split('\n').at(-1))
  } catch {
    return 0 // killed before its first call
  }
}

async function stored(who: Caller, process_: string): Promise<number[]> {
  const values: number[] = []
  for (let cursor = ''; ; ) {
    const question = new URLSearchParams({ process: process_, from: '-6h', limit: '1000', ...(cursor && { cursor }) })
    const { points, next } = (await (await who.get(`/api/metrics?${question}`)).json()) as {
      points: { value: number }[]
      next: string | null
    }
    values.push(...points.map(({ value }) => value))
    if (next === null) return values
    cursor = next
  }
}

test(
  `${KILLS} kills of callers lose no event whose call had returned`,
  async () => {
    await writeClient(dir)
    await Bun.write(join(dir, 'caller.mjs'), NODE)
    await Bun.write(join(dir, 'caller.py'), PYTHON)
    await server.start()
    const who = await server.signUp('ada@example.com')
    const logs = new Map<string, string>()

    for (let done = 0; done < KILLS; ) {
      const crowd = Array.from({ length: Math.min(CROWD, KILLS - done) }, (_, i) => {
        const process_ = `caller ${done + i}`
        logs.set(process_, join(dir, `log-${done + i}`))
        return launch(process_, logs.get(process_)!, who.secret)
      })
      done += crowd.length
      const isServerKilled = Math.random() < 0.5
      const killing = isServerKilled && Bun.sleep(Math.random() * 600).then(() => server.kill())
      await Promise.all(
        crowd.map(async (caller) => {
          await Bun.sleep(100 + Math.random() * 1500)
          caller.kill('SIGKILL')
          await caller.exited
        }),
      )
      if (isServerKilled) {
        await killing // the callers may be gone before
        await server.start()
      }
    }

    // One last caller takes over what all the others have left.
    const last = launch('last 0', join(dir, 'log-last'), who.secret)
    const totals = new Map([...logs].map(([process_, log]) => [process_, returned(log)]))
    const missing = new Map<string, number>()
    try {
      for (const [process_, count] of totals) {
        await until(
          `all ${count} of ${process_} are stored`,
          async () => {
            const values = await stored(who, process_)
            const distinct = new Set(values)
            expect(distinct.size).toBe(values.length)
            const lost = Array.from({ length: count }, (_, i) => i + 1).filter((i) => !distinct.has(i)).length
            missing.set(process_, lost)
            return lost === 0
          },
          180_000, // a draft counts as abandoned after a minute
          500,
        )
      }
    } finally {
      last.kill('SIGKILL')
      const total = [...totals.values()].reduce((sum, count) => sum + count, 0)
      const lost = [...missing.values()].reduce((sum, count) => sum + count, 0)
      console.log(`${KILLS} callers killed, ${total} calls returned, ${lost} events lost`)
    }
    expect([...totals.values()].some((count) => count > 0)).toBe(true)
  },
  (KILLS * 2 + 420) * 1000,
)
