// Events that survive: kills of the caller, full memory, other processes with the same directory. Identity is (content,
// time), so the receiver counts an event once however often it was sent.
import { afterEach, describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openPendingEvents } from '../../src/cli/exec/pending-events.ts'
import { openBacklog, xxHash32 } from '../../src/client/backlog.ts'
import { createStint } from '../../src/client/stint.ts'
import { findNode } from '../support/needs.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'
import { type Receiver, runScript, startReceiver, taken, writeClient } from './client-cast.ts'

let receiver: Receiver
afterEach(() => receiver?.stop())

const away = () => new Response(null, { status: 503 })
const distinct = () => new Set(receiver.events().map((event) => JSON.stringify(event)))
const node = [findNode() ?? process.execPath]

/** Node is killed after its calls returned, without having sent anything. */
async function crash(backlog: string, url: string, process: string, count: number): Promise<void> {
  const dir = tempDir('client')
  await writeClient(dir)
  const script = await runScript(
    node,
    dir,
    `
    import { createStint } from './stint.mjs'
    const stint = createStint({ flushMs: 60_000 })
    for (let i = 1; i < ${count}; i++) stint.metrics({ i }, { process: '${process}' })
    stint.end('${process}', { failed: true })
    console.log('ready')
    setInterval(() => {}, 1000)
  `,
    { STINT_URL: url, STINT_API_KEY: 'k', STINT_BACKLOG: backlog },
  )
  await script.prints('ready')
  script.kill('SIGKILL')
  await script.exited
}

test('the next process sends what a killed one left and empties the directory', async () => {
  receiver = startReceiver()
  const backlog = join(tempDir('backlog'), 'made')
  await crash(backlog, receiver.url, 'killed', 300)
  expect(receiver.events()).toEqual([])
  const stint = createStint({ url: receiver.url, key: 'k', backlog })
  stint.start('next')
  await until('all have arrived', () => distinct().size === 301)
  await until('no file holds anything', () =>
    readdirSync(backlog).every((file) => readFileSync(join(backlog, file)).length === 0),
  )
  expect(receiver.events()).toHaveLength(301)
  expect(receiver.events()).toContainEqual({ kind: 'end', process: 'killed', failed: true, at: expect.any(String) })
})

test('writes files that `stint exec` can read', async () => {
  receiver = startReceiver()
  const backlog = tempDir('backlog')
  await crash(backlog, receiver.url, 'killed', 3)
  const [file] = readdirSync(backlog)
  const pending = openPendingEvents(backlog, () => crypto.randomUUID())
  expect(pending.list(receiver.url)).toEqual([file!])
  const beside = file!.replace(/-\d+-([0-9a-f]{8})\.jsonl$/, `-${process.pid}-$1.jsonl`)
  writeFileSync(join(backlog, beside), readFileSync(join(backlog, file!)))
  expect(pending.read(beside, Date.now() * 1000)).toBeUndefined() // its process may still write to it
  expect(pending.read(beside, (Date.now() + 61_000) * 1000)?.events).toHaveLength(3)
  const later = pending.read(file!, Date.now() * 1000)!
  expect(later.unreadable).toBe(0)
  const at = expect.any(String)
  expect(later.events as readonly unknown[]).toEqual([
    { kind: 'metrics', url: receiver.url, body: { process: 'killed', items: { i: 1 }, at } },
    { kind: 'metrics', url: receiver.url, body: { process: 'killed', items: { i: 2 }, at } },
    { kind: 'end', url: receiver.url, body: { process: 'killed', failed: true, at } },
  ])
})

test('sends events that `stint exec` kept for the same address', async () => {
  receiver = startReceiver()
  const backlog = tempDir('backlog')
  const body = { process: 'of exec', at: '2026-11-20T00:00:00.000001Z' }
  const unique = () => '0a1b2c3d-1234-4abc-8def-0123456789ab' // its digits could be taken for the id of a process
  openPendingEvents(backlog, unique).add([{ kind: 'start', body }], receiver.url, Date.now() * 1000)
  openPendingEvents(backlog, () => crypto.randomUUID()).add([{ kind: 'end', body }], 'http://other', Date.now() * 1000)
  const stint = createStint({ url: receiver.url, key: 'k', backlog })
  stint.start('mine')
  await until('all have arrived', () => distinct().size === 2)
  expect(receiver.events()).toContainEqual({ kind: 'start', ...body })
  expect(
    readdirSync(backlog).filter((file) => readFileSync(join(backlog, file), 'utf8').includes('other')),
  ).toHaveLength(1)
})

test('events beyond the memory limit wait on disk and are sent later', async () => {
  let isAway = true
  receiver = startReceiver(() => (isAway ? away() : taken()))
  const backlog = tempDir('backlog')
  const drops: string[] = []
  const stint = createStint({
    url: receiver.url,
    key: 'k',
    backlog,
    maxBytes: 5_000,
    onDrop: (_, reason) => void drops.push(reason),
  })
  for (let i = 0; i < 30_000; i++) stint.metrics({ i }, { process: 'many' })
  isAway = false
  expect(await stint.flush(30_000)).toBe(true)
  await until('all have arrived', () => distinct().size === 30_000)
  expect(drops).toEqual([])
  await until('no file holds anything', () =>
    readdirSync(backlog).every((file) => readFileSync(join(backlog, file)).length === 0),
  )
})

test('a refused key loses nothing: the events wait until it is accepted', async () => {
  let status = 401
  receiver = startReceiver(() => (status === 201 ? taken() : new Response(null, { status })))
  const drops: string[] = []
  const stint = createStint({
    url: receiver.url,
    key: 'k',
    backlog: tempDir('backlog'),
    onDrop: (_, reason) => void drops.push(reason),
  })
  stint.start('job')
  expect(await stint.flush(100)).toBe(false)
  status = 201
  expect(await stint.flush(20_000)).toBe(true)
  expect(drops).toEqual([])
})

describe('a file of another process', () => {
  const url = 'http://127.0.0.1:1'
  const line = (i: number) => `${JSON.stringify({ kind: 'start', url, body: { process: 'p', at: `${i}` } })}\n`
  const nameOf = (host: string, pid: number, us = Date.now() * 1000) =>
    `pending-metrics-${String(us).padStart(17, '0')}-${xxHash32(url).toString(16).padStart(8, '0')}-1048576-${host}-${pid}-00000000.jsonl`
  const place = (name: string, text: string, ageS = 0) => {
    const dir = tempDir('backlog')
    mkdirSync(dir, { recursive: true })
    writeFileSync(join(dir, name), text)
    const at = Date.now() / 1000 - ageS
    utimesSync(join(dir, name), at, at)
    return dir
  }
  const adopt = (dir: string, warnings: string[] = []) =>
    openBacklog(dir, url, (text) => void warnings.push(text))
      .adopt()
      ?.map(({ line }) => JSON.parse(line).at)

  test('on another machine is left alone while it is touched', () => {
    expect(adopt(place(nameOf('deadbeef', 1), line(1)))).toBeUndefined()
    expect(adopt(place(nameOf('deadbeef', 1), line(1), 61))).toEqual(['1'])
  })

  test('is taken by only one of two processes', () => {
    const dir = place(nameOf('deadbeef', 1), line(1) + line(2), 61)
    const found = [adopt(dir), adopt(dir)]
    expect(found).toEqual([['1', '2'], undefined])
  })

  test('keeps events for another address with the same hash', () => {
    const foreign = line(1).replace(url, 'http://another')
    const dir = place(nameOf('deadbeef', 1), foreign + line(2), 61)
    const backlog = openBacklog(dir, url, () => {})
    const found = backlog.adopt()!
    expect(found.map(({ line }) => JSON.parse(line).at)).toEqual(['2'])
    backlog.settle(found[0]!.segment)
    backlog.close()
    expect(readdirSync(dir).map((file) => readFileSync(join(dir, file), 'utf8'))).toEqual([foreign + line(2)])
  })

  test('is read up to the point where a crash tore it', () => {
    const warnings: string[] = []
    expect(adopt(place(nameOf('deadbeef', 1), line(1) + line(2).slice(0, 30), 61), warnings)).toEqual(['1'])
    expect(warnings).toEqual(['1 unreadable lines in a backlog file'])
  })
})

test('file names use the same hash as the command line', () => {
  for (let length = 0; length < 70; length++) {
    const text = `http://${'ä'.repeat(length)}`
    expect(xxHash32(text)).toBe(Bun.hash.xxHash32(text))
  }
})

test('a directory that cannot be written leaves the events in memory', async () => {
  receiver = startReceiver()
  const stint = createStint({ url: receiver.url, key: 'k', backlog: '/proc/nowhere' })
  stint.start('job')
  expect(await stint.flush()).toBe(true)
  expect(receiver.events()).toHaveLength(1)
})
