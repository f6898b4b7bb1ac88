import { beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MAX_BYTES, MAX_FILES, openPendingEvents } from '../../../src/cli/exec/pending-events.ts'
import { tempDir } from '../../support/temp-dir.ts'

const root = tempDir('pending')

const URL_A = 'http://127.0.0.1:7070'
const event = (process: string, extra: Record<string, string> = {}) => ({
  kind: 'start' as const,
  body: { process, ...extra },
})

let dir: string
let pending: ReturnType<typeof openPendingEvents>
let count = 0
beforeEach(() => {
  dir = join(root, String(++count), 'stint')
  pending = openPendingEvents(dir, () => crypto.randomUUID())
})

test('a missing file reads as empty and can be removed again', () => {
  const { file } = pending.add([event('a')], URL_A, 1)
  pending.remove(file)
  pending.remove(file)
  expect(pending.read(file, Date.now() * 1000)).toBeUndefined()
  expect(pending.list()).toEqual([])
})

test('the remaining events of a file replace it', () => {
  const { file } = pending.add([event('a'), event('b')], URL_A, 1)
  const newer = pending.add([event('c')], URL_A, 2).file
  const left = pending.replace(file, [{ ...event('b'), url: URL_A }])
  expect(pending.read(left, Date.now() * 1000)!.events.map(({ body }) => body.process)).toEqual(['b'])
  expect(pending.list(URL_A)).toEqual([left, newer])
  expect(readdirSync(dir).toSorted()).toEqual([left, newer])
})

test('the files for one Stint are listed by its address', () => {
  const a = pending.add([event('a')], URL_A, 1).file
  const b = pending.add([event('b')], 'http://127.0.0.1:7071', 2).file
  expect([pending.list(URL_A), pending.list('http://127.0.0.1:7071'), pending.list()]).toEqual([[a], [b], [a, b]])
})

test('counts damaged lines and reads the others', () => {
  const { file } = pending.add([event('a')], URL_A, 1)
  const good = readFileSync(join(dir, file), 'utf8')
  writeFileSync(
    join(dir, file),
    `${good}{"kind":"start","url":"x"\n[]\nnull\n{"kind":"sing","url":"x","body":{}}\n{"kind":"end","url":"x","body":null}\n`,
  )
  expect(pending.read(file, Date.now() * 1000)).toMatchObject({ events: [{ body: { process: 'a' } }], unreadable: 5 })
})

describe('limits the size of the directory', () => {
  test('in files: the oldest are removed', () => {
    pending.add([event('a')], URL_A, 0)
    for (let i = 1; i < MAX_FILES; i++)
      writeFileSync(join(dir, `pending-${String(i).padStart(17, '0')}-00000000-1-${i}.jsonl`), '')
    expect(pending.list()).toHaveLength(MAX_FILES)
    const { file, dropped } = pending.add([event('z')], URL_A, MAX_FILES)
    const left = pending.list()
    expect(dropped).toBe(1)
    expect(left).toHaveLength(MAX_FILES)
    expect(left.at(-1)).toBe(file)
    expect(left[0]).toContain('00000000000000001-')
  })

  test('in bytes', () => {
    const half = 'x'.repeat(MAX_BYTES / 2)
    const first = pending.add([event('a', { exception: half })], URL_A, 1).file
    const second = pending.add([event('b', { exception: half })], URL_A, 2).file
    expect(pending.add([event('c')], URL_A, 3).dropped).toBe(1)
    expect(pending.list()).not.toContain(first)
    expect(pending.list()).toContain(second)
  })
})

describe('an incomplete file', () => {
  const halve = (file: string) => truncateSync(join(dir, file), statSync(join(dir, file)).size / 2)

  test('is left alone while it is being written', () => {
    const { file } = pending.add([event('a'), event('b')], URL_A, 1)
    halve(file)
    expect(pending.read(file, Date.now() * 1000)).toBeUndefined()
    expect(pending.list()).toEqual([file])
  })

  test('was torn by a crash if it is old: its whole lines are read and the torn one is counted', () => {
    const { file } = pending.add([event('a'), event('b'), event('c')], URL_A, 1)
    halve(file)
    const found = pending.read(file, (Date.now() + 61_000) * 1000)!
    expect(found.events.map(({ body }) => body.process)).toEqual(['a'])
    expect(found.unreadable).toBe(1)
  })
})

test('a failed end is read back whole, and by version 1.0 without the failure', () => {
  const end = { kind: 'end' as const, body: { process: 'p', uid: 'u', failed: true } }
  const { file } = pending.add([end], URL_A, 1)
  expect(pending.read(file, Date.now() * 1000)).toEqual({ events: [{ ...end, url: URL_A }], unreadable: 0 })
  // Version 1.0 takes kind, url and a body of texts, and ignores the rest of the line.
  const { kind, url, body } = JSON.parse(readFileSync(join(dir, file), 'utf8'))
  expect({ kind, url, body }).toEqual({ kind: 'end', url: URL_A, body: { process: 'p', uid: 'u' } })
  expect(file).toMatch(/^pending-\d{17}-[0-9a-f]{8}-\d+-[0-9a-f-]+\.jsonl$/)
})

test('metrics are in files that version 1.0 does not see, in order with the others', () => {
  const metrics = { kind: 'metrics' as const, body: { process: 'p', items: { rows: 3 } } }
  const names = [event('p'), metrics, event('p')].map((one, i) => pending.add([one], URL_A, i + 1).file)
  expect(names[1]).not.toMatch(/^pending-\d/)
  expect(pending.list(URL_A)).toEqual(names)
  expect(pending.read(names[1]!, Date.now() * 1000)).toEqual({ events: [{ ...metrics, url: URL_A }], unreadable: 0 })
})
