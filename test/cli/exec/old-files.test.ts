// Files that version 1.1 kept: the next `stint flush` sends them.
import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MAX_BATCH_BYTES } from '../../../src/wire/events.ts'
import { usePerTest } from './exec-cast.ts'

const { listen, userOf } = usePerTest()

const AT = '2026-11-20T00:00:00.000001Z'
const line = (url: string, kind: string, body: object, rest: object = {}) =>
  `${JSON.stringify({ kind, url, body: { ...body, at: AT }, ...rest })}\n`
const exec = (us: number, text: string) =>
  `pending-${us.toString().padStart(17, '0')}-0badcafe-${text.length}-${'0a1b'}.jsonl`
const client = (us: number) =>
  `pending-metrics-${us.toString().padStart(17, '0')}-0badcafe-1048576-deadbeef-17-0a1b2c3d.jsonl`

test('are sent once; those for another address and those that are being written stay', async () => {
  const stint = listen()
  const user = userOf(stint.url)
  mkdirSync(user.stateDir, { recursive: true })
  const place = (name: string, text: string, ageS = 0) => {
    writeFileSync(join(user.stateDir, name), text)
    utimesSync(join(user.stateDir, name), Date.now() / 1000 - ageS, Date.now() / 1000 - ageS)
  }
  const job =
    line(stint.url, 'start', { process: 'job' }) + line(stint.url, 'end', { process: 'job' }, { failed: true })
  place(exec(1, job), job)
  place(client(2), `${line(stint.url, 'metrics', { process: 'killed', items: { rows: 3 } })}{"kind":"sta`, 61)
  place(client(3), line(stint.url, 'start', { process: 'writes' }))
  const foreign = line('http://other', 'start', { process: 'other' })
  place(exec(4, foreign), foreign)

  const { stdout, stderr } = await user.run(['flush'])
  expect(stderr.toString()).toBe('stint: 1 lines of files of version 1.1 dropped: they are not events\n')
  expect(stdout.toString()).toBe('3 sent, 0 refused, 0 left\n')
  expect(stint.events.map(({ path, body: { at, ...body } }) => [path, at!, body as object])).toEqual([
    ['/v1/start', AT, { process: 'job' }],
    ['/v1/end', AT, { process: 'job', failed: true }],
    ['/v1/metrics', AT, { process: 'killed', items: { rows: 3 } }],
  ])
  expect(
    readdirSync(user.stateDir)
      .filter((name) => name.endsWith('.jsonl'))
      .sort(),
  ).toEqual([exec(4, foreign), client(3)])
  await user.run(['flush', '--all'])
  expect(stint.events.at(-1)!.body.process).toBe('other')
})

test('a long file is sent in requests that are within the limit of a batch', async () => {
  const stint = listen()
  const user = userOf(stint.url)
  mkdirSync(user.stateDir, { recursive: true })
  const exception = '☂'.repeat(15_000)
  const text = line(stint.url, 'exception', { process: 'job', exception }).repeat(150)
  writeFileSync(join(user.stateDir, exec(1, text)), text)
  const { stdout } = await user.run(['flush'])
  expect(stdout.toString()).toBe('150 sent, 0 refused, 0 left\n')
  expect(Math.max(...stint.requests.map(({ text }) => Buffer.byteLength(text)))).toBeLessThan(MAX_BATCH_BYTES)
})
