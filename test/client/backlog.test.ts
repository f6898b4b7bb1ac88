// Events that survive: kills of the caller, full memory, other processes with the same directory. Identity is (content,
// time), so the receiver counts an event once however often it was sent.
import { afterEach, describe, expect, test } from 'bun:test'
import { closeSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Glob } from 'bun'
import { MAX_BYTES, nameOf, openBacklog } from '../../src/client/backlog.ts'
import type { DroppedEvent } from '../../src/client/declarations/stint.d.ts'
import { createStint } from '../../src/client/stint.ts'
import { startRealStint } from '../support/real-stint.ts'
import { inMemoryDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'
import { type Batch, type Receiver, runScript, startReceiver, taken } from './client-cast.ts'

let receiver: Receiver
afterEach(() => receiver?.stop())

const away = () => new Response(null, { status: 503 })
const distinct = () => new Set(receiver.events().map((event) => JSON.stringify(event)))
/** Paths of the files that wait, drafts left out. */
const wholeFiles = (dir: string) =>
  [...new Glob('**/*.json').scanSync({ cwd: dir, absolute: true })].filter((path) => !path.includes('/refused/')).sort()
/** As if its processes had ended two minutes ago. */
function age(dir: string): void {
  const at = Date.now() / 1000 - 120
  for (const path of new Glob('**/*').scanSync({ cwd: dir, absolute: true, dot: true })) utimesSync(path, at, at)
}

/** A process is killed after its calls returned, without having sent anything. */
async function crash(backlog: string, url: string, key: string, job: string, count: number): Promise<void> {
  const script = await runScript(
    [process.execPath],
    inMemoryDir(),
    `
    import { createStint } from '${join(import.meta.dir, '../../src/client/stint.ts')}'
    const stint = createStint({ flushMs: 60_000 })
    for (let i = 1; i < ${count}; i++) stint.metrics({ i }, { process: '${job}' })
    stint.end('${job}', { failed: true })
    console.log('ready')
    setInterval(() => {}, 1000)
  `,
    { STINT_URL: url, STINT_API_KEY: key, STINT_BACKLOG: backlog },
  )
  await script.prints('ready')
  script.kill('SIGKILL')
  await script.exited
}

test('the next process sends what a killed one left and empties the directory', async () => {
  await using real = await startRealStint()
  const { url, key } = real
  const backlog = join(inMemoryDir(), 'made')
  await crash(backlog, url, key, 'killed', 300)
  expect(await real.events()).toEqual([])
  age(backlog)
  const stint = createStint({ url, key, backlog })
  stint.start('next')
  await until('all have arrived', async () => (await real.events()).length === 301)
  await until('no file is left', () => wholeFiles(backlog).length === 0)
  expect(await real.runs('killed')).toMatchObject([{ state: 'failed' }])
  expect(await real.metrics('killed')).toEqual({ i: 299 })
  expect(await real.runs('next')).toMatchObject([{ state: 'running' }])
})

test('a file is the body of a batch, in a directory that is named by address and key', async () => {
  receiver = startReceiver(away)
  const backlog = inMemoryDir()
  const stint = createStint({ url: receiver.url, key: 'k', backlog })
  stint.start('job', { uid: 'u' })
  expect(await stint.flush(100)).toBe(false)
  await until('it is whole', () => wholeFiles(backlog).length === 1)
  const dir = join(backlog, nameOf(receiver.url, 'k'))
  const [file] = wholeFiles(backlog)
  expect(dirname(file!)).toBe(dir)
  expect(statSync(dir).mode & 0o777).toBe(0o700)
  expect(statSync(file!).mode & 0o777).toBe(0o600)
  expect(JSON.parse(readFileSync(file!, 'utf8'))).toEqual([
    { kind: 'start', process: 'job', uid: 'u', at: expect.any(String) },
  ])
})

test('sends what others kept for the same address and key; what is refused stays in a directory of its own', async () => {
  const refuses = ({ events }: Batch) =>
    events[0]!.process === 'bad' ? Response.json({ detail: 'no' }, { status: 422 }) : taken()
  receiver = startReceiver(refuses)
  const backlog = inMemoryDir()
  const dir = join(backlog, nameOf(receiver.url, 'k'))
  const other = join(backlog, nameOf(receiver.url, 'another key'))
  mkdirSync(dir)
  mkdirSync(other)
  writeFileSync(join(dir, 'a.json'), '[ {"kind": "end", "process": "sh"} ]\n')
  writeFileSync(join(dir, 'b.json'), '[{"kind":"end","process":"bad"}]')
  writeFileSync(join(dir, 'c.json'), '[{"kind":"end","proc')
  writeFileSync(join(other, 'd.json'), '[{"kind":"end","process":"other"}]')
  const drops: string[] = []
  const onDrop = (event: DroppedEvent) => void drops.push(event.process!)
  createStint({ url: receiver.url, key: 'k', backlog, onDrop }).start('mine')
  await until('nothing is left', () => wholeFiles(dir).length === 0)
  expect(receiver.events()).toContainEqual({ kind: 'end', process: 'sh' })
  expect(drops).toEqual(['bad'])
  const refused = readdirSync(join(dir, 'refused')).map((name) => readFileSync(join(dir, 'refused', name), 'utf8'))
  expect(refused.sort()).toEqual(['[{"kind":"end","proc', '[{"kind":"end","process":"bad"}\n]\n'])
  expect(wholeFiles(other)).toHaveLength(1)
})

test('events beyond the memory limit wait on disk and are sent later', async () => {
  let isAway = true
  receiver = startReceiver(() => (isAway ? away() : taken()))
  const backlog = inMemoryDir()
  const drops: string[] = []
  const stint = createStint({
    url: receiver.url,
    key: 'k',
    backlog,
    maxBytes: 5_000,
    onDrop: (_, reason) => void drops.push(reason),
  })
  for (let i = 0; i < 6_000; i++) stint.metrics({ i }, { process: 'many' })
  isAway = false
  expect(await stint.flush(30_000)).toBe(true)
  await until('all have arrived', () => distinct().size === 6_000)
  expect(drops).toEqual([])
  await until('no file is left', () => wholeFiles(backlog).length === 0)
})

test('a refused key loses nothing: the events wait until it is accepted', async () => {
  let status = 401
  receiver = startReceiver(() => (status === 201 ? taken() : new Response(null, { status })))
  const drops: string[] = []
  const stint = createStint({
    url: receiver.url,
    key: 'k',
    backlog: inMemoryDir(),
    onDrop: (_, reason) => void drops.push(reason),
  })
  stint.start('job')
  expect(await stint.flush(100)).toBe(false)
  status = 201
  expect(await stint.flush(20_000)).toBe(true)
  expect(drops).toEqual([])
})

describe('the directory', () => {
  const open = (dir: string) => openBacklog([{ path: dir }], 'http://stint', 'k')
  const eventsIn = (backlog: ReturnType<typeof open>) => backlog.list().map((path) => backlog.read(path))

  test('has files whole and synced, the oldest first', () => {
    const backlog = open(inMemoryDir())
    const paths = ['a', 'b', 'c'].map((name, i) => {
      const { path } = backlog.write([`{"p":"${name}"}`, '{}'])
      utimesSync(path, 10 - i, 10 - i)
      return path
    })
    expect(backlog.list()).toEqual(paths.toReversed())
    expect(eventsIn(backlog)).toEqual([
      ['{"p":"c"}', '{}'],
      ['{"p":"b"}', '{}'],
      ['{"p":"a"}', '{}'],
    ])
    backlog.write(['{"p":"d"}'], paths[0])
    expect(backlog.read(paths[0]!)).toEqual(['{"p":"d"}'])
    backlog.remove(paths[0]!)
    backlog.remove(paths[0]!)
    expect(backlog.read(paths[0]!)).toBeUndefined()
  })

  test('holds 32 MiB; the oldest files of all addresses go first', () => {
    const home = inMemoryDir()
    const other = openBacklog([{ path: home }], 'http://other', 'k')
    const half = `{"p":"${'x'.repeat(MAX_BYTES / 2)}"}`
    utimesSync(other.write([half]).path, 1, 1)
    const backlog = open(home)
    expect(backlog.write(['{}']).displaced).toBe(0)
    expect(backlog.write([half]).displaced).toBe(1)
    expect([other.list(), eventsIn(backlog)]).toEqual([[], [['{}'], [half]]])
  })

  test('a draft is left alone while its process may write, and read up to where a crash tore it', () => {
    const backlog = open(inMemoryDir())
    const { path, fd } = backlog.openDraft()
    const drafted = (text: string) => {
      writeFileSync(path, text)
      const at = Date.now() / 1000 - 61
      expect(backlog.list()).toEqual([])
      utimesSync(path, at, at)
      const found = eventsIn(backlog)
      for (const file of backlog.list()) backlog.remove(file)
      return found
    }
    closeSync(fd)
    expect(drafted('[{"p":1}\n,{"p":2}\n,{"p":')).toEqual([['{"p":1}', '{"p":2}']])
    expect(drafted('[{"p":1}\n]\n')).toEqual([['{"p":1}']])
    expect(drafted('[{"p":')).toEqual([])
    expect(readdirSync(dirname(path))).toEqual([])
  })
})

test('a directory that cannot be written leaves the events in memory', async () => {
  receiver = startReceiver()
  const stint = createStint({ url: receiver.url, key: 'k', backlog: '/proc/nowhere' })
  stint.start('job')
  expect(await stint.flush()).toBe(true)
  expect(receiver.events()).toHaveLength(1)
})
