// `stint status` against a real server: the sentence of Home, and a line per process.
import { expect, test } from 'bun:test'
import type { Event } from '../../src/event/event.ts'
import { parseStampNs } from '../../src/event/stamp.ts'
import { Overview } from '../../src/wire/overview.ts'
import { STORE_AWAY } from '../../src/wire/process-state.ts'
import { exampleOf } from '../../src/wire/route.ts'
import { startApp } from '../support/app.ts'
import { createFailingDisk } from '../support/failing-disk.ts'
import { createPerson } from './cli-cast.ts'

const HOUR = 3_600_000
const stored: Event[] = []

test('prints the sentence of Home and a line per process; exits with 1 while something is wrong', async () => {
  await using app = await startApp({ stored })
  const now = app.clock.wallUs() / 1000
  const at = (agoMs: number, process: string) => ({
    ...{ account: app.account, process, meta: '', uid: '' },
    stamp: parseStampNs(BigInt(Math.round(now - agoMs)) * 1_000_000n),
  })
  for (const [process, lastMs] of [
    ['backup', 96 * HOUR],
    ['sync', HOUR / 2],
  ] as const)
    for (let i = 0; i < 8; i++)
      stored.push(
        { ...at(lastMs + i * HOUR, process), kind: 'start' },
        { ...at(lastMs + i * HOUR - 60_000, process), kind: 'end' },
      )
  const person = createPerson(app.url)
  const run = (line: string) => person.run(line, { env: { STINT_API_KEY: app.keys.reader } })
  const shown = await run('status')
  expect(shown.stdout).toStartWith('1 silent, 1 fine.\n')
  expect(shown.stdout).toMatch(/backup +Silent: no start for 4 days, usually every 60 min\./)
  expect(shown.stdout).toMatch(/sync +Completed 29 min ago in 60\.0 s|sync +Completed 29 min ago in 1 m 00 s/)
  expect([shown.exitCode, shown.stderr]).toEqual([1, ''])
  const onTerminal = (await person.run('status', { env: { STINT_API_KEY: app.keys.reader }, columns: 30 })).stdout
  for (const line of onTerminal.split('\n').slice(1)) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(30)
  const json = JSON.parse((await run('status sync --json')).stdout)
  expect(json).toMatchObject({ sentence: '1 process is fine.', processes: [{ process: 'sync', by_meta: [{}] }] })
  expect((await run('status --csv')).stdout).toContain('backup,silent,')
  expect(await run('status nope')).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: 'stint: no process is called nope\n',
  })
})

test('while a store does not answer, it says that alerts alone are known, instead of an age', async () => {
  await using server = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1' },
    fetch: () => Response.json({ ...exampleOf(Overview), sentence: '1 process has an alert.', stale_s: 0, next: null }),
  })
  const shown = await createPerson(server.url.origin).run('status', { env: { STINT_API_KEY: 'stint_x' } })
  expect(shown.stdout).toStartWith(`1 process has an alert. ${STORE_AWAY}\n`)
})

test('health prints its table also while Stint takes no event, or only some, and says so', async () => {
  const disk = { points: createFailingDisk(), exceptions: createFailingDisk() }
  await using app = await startApp({ disk })
  const health = () => createPerson(app.url).run('health', { env: { STINT_API_KEY: app.keys.owner } })
  disk.points.isBroken = true
  await app.post('/v1/start', { process: 'p' })
  const partly = await health()
  expect(partly.stdout).toMatch(/^EVENTS +STORE/)
  expect(partly.stdout).toContain('Warning: points are refused: disk_failed\n')
  disk.exceptions.isBroken = true
  await app.post('/v1/exception', { process: 'p', exception: 'e' })
  const unready = await health()
  expect(unready).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('could not be written to disk') })
  expect(unready.stdout).toMatch(/^EVENTS +STORE/)
})
