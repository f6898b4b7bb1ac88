// The real process whose log cannot be written: the lines are lost and nothing else.
import { afterEach, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mountSmallDisk } from '../support/fault-small-disk.ts'
import { lacks } from '../support/fault-trial.ts'
import { createStintProcess, STORES_AWAY, type StintProcess } from '../support/process.ts'

let stint: StintProcess | undefined
afterEach(() => stint?.close())

test.skipIf(process.platform !== 'linux')(
  'with the log on a full disk Stint loses log lines but accepts events and stops normally',
  async () => {
    stint = createStintProcess(
      {
        ...STORES_AWAY,
        LOG_LEVEL: 'trace',
      },
      { stdout: '/dev/full' },
    )
    await stint.start() // which logs, as do the stores that are away
    const caller = await stint.signUp('ada@example.com')
    for (let i = 0; i < 50; i++) expect((await caller.post('/v1/start', { process: 'p' })).status).toBe(201)
    expect((await fetch(`${stint.url}/livez`)).status).toBe(200)
    expect(await stint.terminate()).toBe(0)
    expect(stint.log()).not.toContain('ENOSPC')
  },
)

test.skipIf(process.platform !== 'linux')('a failing start exits even if it cannot log the reason', async () => {
  stint = createStintProcess({}, { dataDir: '/proc/self', stdout: '/dev/full' })
  await stint.launch()
  expect(await stint.ended()).toBe(1)
})

test.skipIf(lacks('tmpfs'))('logging resumes when there is room', async () => {
  const disk = mountSmallDisk(8)
  try {
    const script = `
      import { createLog } from '${join(import.meta.dir, '../../src/log.ts')}'
      const log = createLog({ level: 'info', pretty: true })
      const about = { pad: 'x'.repeat(1000) }
      for (let i = 0; i < 3000; i++) log.info(about, 'on a full disk')
      console.error('all is said')
      await Bun.stdin.text() // until there is room
      for (let i = 0; i < 10; i++) log.info(about, 'there is room')`
    const out = join(disk.dir, 'out')
    writeFileSync(out, '')
    disk.fill()
    const child = Bun.spawn(['/bin/sh', '-c', 'exec "$1" -e "$2" >>"$0"', out, process.execPath, script], {
      stdin: 'pipe',
      stdout: 'inherit',
      stderr: 'pipe',
    })
    const { value } = await child.stderr.getReader().read()
    expect(new TextDecoder().decode(value)).toBe('all is said\n')
    disk.free()
    child.stdin.end()
    expect(await child.exited).toBe(0)
    expect(readFileSync(out, 'utf8').match(/there is room/g)?.length).toBeGreaterThanOrEqual(9)
  } finally {
    disk.unmount()
  }
})
