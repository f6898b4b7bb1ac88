// The id of a run as its scheduler has it, through every client to a real Stint: start and end are one run, which a
// question with that id finds.
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createStint } from '../../src/client/stint.ts'
import type { Event } from '../../src/event/event.ts'
import { toUid } from '../../src/wire/run-id.ts'
import { useApp } from '../support/app.ts'
import { findPython, missing } from '../support/needs.ts'
import { ROOT } from '../support/readme.ts'
import { tempDir } from '../support/temp-dir.ts'

const ID = 'manual__2026-11-28T03:00:00.123456+00:00'
const stored: Event[] = []
const app = await useApp({ stored })
const env = { PATH: process.env.PATH ?? '', HOME: tempDir('ids'), STINT_URL: app.url, STINT_API_KEY: app.keys.owner }

/** An event that is sent again has the same time, and is stored once. */
async function marksOf(process: string) {
  const marks = (await app.events()).flatMap((event) =>
    event.process === process && (event.kind === 'start' || event.kind === 'end')
      ? [[JSON.stringify(event.stamp), [event.kind, event.uid] as string[]] as const]
      : [],
  )
  return [...new Map(marks).values()]
}
const ONE_RUN = [
  ['start', toUid(ID)],
  ['end', toUid(ID)],
]

async function run(...command: string[]): Promise<string> {
  const child = Bun.spawn(command, { env, cwd: env.HOME, stdout: 'pipe', stderr: 'pipe', stdin: 'ignore' })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect([command[0], await child.exited, stderr]).toEqual([command[0], 0, expect.any(String)])
  return stdout
}

describe('a scheduler’s id is one run from', () => {
  test('the TypeScript client', async () => {
    const stint = createStint({ url: app.url, key: app.keys.owner })
    stint.start('ts halves', { uid: ID })
    stint.end('ts halves', { uid: ID })
    await stint.run('ts run', { uid: ID }, async (run) => expect(run.uid).toBe(toUid(ID)))
    await stint.flush()
    expect(await marksOf('ts halves')).toEqual(ONE_RUN)
    expect(await marksOf('ts run')).toEqual(ONE_RUN)
  })

  test.skipIf(missing('python') !== undefined)('the Python client', async () => {
    const script = [
      'import sys; sys.path.insert(0, sys.argv[1]); import stint',
      'stint.start("py halves", uid=sys.argv[2]); stint.end("py halves", uid=sys.argv[2])',
      'with stint.run("py run", uid=sys.argv[2]): pass',
    ].join('\n')
    await run(findPython()!, '-c', script, join(ROOT, 'src/client/python'), ID)
    expect(await marksOf('py halves')).toEqual(ONE_RUN)
    expect(await marksOf('py run')).toEqual(ONE_RUN)
  })

  test.each([
    ['the command line', 'cli', [process.execPath, join(ROOT, 'src/cli/main.ts')]],
    ['stint.sh', 'sh', ['sh', join(ROOT, 'src/client/sh/stint.sh')]],
  ])('%s', async (_, name, words) => {
    expect(await run(...words, 'start', `${name} halves`, '--uid', ID)).toBe(`${toUid(ID)}\n`)
    await run(...words, 'end', `${name} halves`, '--uid', ID)
    await run(...words, 'exec', '--process', `${name} exec`, `--uid=${ID}`, '--', 'true')
    expect(await marksOf(`${name} halves`)).toEqual(ONE_RUN)
    expect(await marksOf(`${name} exec`)).toEqual(ONE_RUN)
  })
})

test('a question takes the id, too; on the wire an event must have a uid', async () => {
  const stamp = { us: app.clock.wallUs() - 60_000_000, sub: 0 }
  stored.push({ kind: 'start', account: app.account, process: 'p', meta: '', uid: toUid(ID), stamp })
  const ask = async (uid: string) =>
    (await app.fetch(`/api/timings?uid=${encodeURIComponent(uid)}`, { key: app.keys.owner })).json.timings.length
  expect([await ask(ID), await ask(toUid(ID)), await ask(`${ID}1`)]).toEqual([1, 1, 0])
  expect((await app.post('/v1/start', { process: 'p', uid: ID })).status).toBe(422)
})
