// The blocks of the page Recipes in the runtimes that they are for, against a real Stint.
import { expect, test } from 'bun:test'
import { copyFileSync, existsSync, symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { writeClient } from './client/client-cast.ts'
import { useApp } from './support/app.ts'
import { findPeers, missing } from './support/needs.ts'
import { ROOT } from './support/readme.ts'
import { recipeOf } from './support/recipes.ts'
import { tempDir } from './support/temp-dir.ts'

const NODE_PEERS = join(homedir(), '.cache/stint/node-peers/node_modules')
const app = await useApp()
const dir = tempDir('recipes')
const token = (await app.rooms.accounts.keys.create(app.account, 'ping', ['ping'])).secret
const filled = { url: app.url, key: app.keys.writer, token }

async function run(command: readonly string[]): Promise<void> {
  const env = { HOME: homedir(), PATH: process.env.PATH ?? '', STINT_URL: app.url, STINT_API_KEY: app.keys.writer }
  const child = Bun.spawn([...command], { cwd: dir, env, stdout: 'ignore', stderr: 'pipe' })
  const errors = await new Response(child.stderr).text()
  expect([errors, await child.exited]).toEqual([expect.any(String), 0])
}
/** What the run of the block stored since the last call. */
let seen = 0
async function stored(): Promise<string[]> {
  const events = (await app.events()).filter(({ process }) => process === 'nightly import')
  const found = events.slice(seen).map(({ kind }) => kind)
  seen = events.length
  return found.sort()
}

test.skipIf(missing('go') !== undefined)(
  'Go',
  async () => {
    await Bun.write(join(dir, 'main.go'), recipeOf('Go', filled))
    await run(['go', 'run', 'main.go'])
    expect(await stored()).toEqual(['end', 'start'])
  },
  120_000,
)

test.skipIf(Bun.which('java') === null)(
  'Java',
  async () => {
    await Bun.write(join(dir, 'Stint.java'), recipeOf('Spring and Quartz', filled))
    await run(['java', 'Stint.java'])
    expect(await stored()).toEqual(['end', 'start'])
  },
  60_000,
)

test.skipIf(missing('peers') !== undefined)(
  'APScheduler',
  async () => {
    copyFileSync(join(ROOT, 'src/client/python/stint.py'), join(dir, 'stint.py'))
    const once = `
import datetime, threading
from apscheduler.events import EVENT_JOB_EXECUTED
done = threading.Event()
scheduler.add_listener(lambda event: done.set(), EVENT_JOB_EXECUTED)
scheduler.get_job("nightly import").modify(next_run_time=datetime.datetime.now(datetime.timezone.utc))
assert done.wait(20)
scheduler.shutdown()
assert stint.flush()
`
    await Bun.write(join(dir, 'jobs.py'), recipeOf('APScheduler', filled) + once)
    await run([findPeers()!, 'jobs.py'])
    expect(await stored()).toEqual(['end', 'metrics', 'start'])
  },
  60_000,
)

test.skipIf(missing('node') !== undefined || !existsSync(join(NODE_PEERS, 'node-cron')))(
  'node-cron',
  async () => {
    symlinkSync(NODE_PEERS, join(dir, 'node_modules'))
    await writeClient(dir)
    const block = recipeOf('Node schedules', filled).replace('cron.schedule(', 'const task = cron.schedule(')
    const once = 'await task.execute()\nif (!(await stint.flush())) process.exitCode = 1\nawait task.destroy()\n'
    await Bun.write(join(dir, 'jobs.mjs'), block + once)
    await run(['node', 'jobs.mjs'])
    expect(await stored()).toEqual(['end', 'metrics', 'start'])
  },
  60_000,
)
