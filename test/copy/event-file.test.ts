// The lines of copied files: what is written is read again as it was, and everything else is refused with its reason.
import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { fromLine, openFileScan, toLine } from '../../src/copy/event-file.ts'
import type { Event } from '../../src/event/event.ts'
import { tempDir } from '../support/temp-dir.ts'
import { someHistory } from './some-history.ts'

test('every event reads back as written', () => {
  for (const event of someHistory(2_000)) {
    expect(fromLine(toLine(event, true))).toEqual(event)
    expect(fromLine(toLine(event, false), 'acc_other')).toEqual({ ...event, account: 'acc_other' })
  }
})

test('keeps the content of a row', () => {
  const event = {
    kind: 'start',
    account: 'a',
    process: 'p',
    meta: '',
    uid: '',
    stamp: { us: 5000, sub: 3 },
    content: 2n ** 64n - 1n,
  } as const
  expect(fromLine(toLine(event, true))).toEqual(event)
})

const LINE = { kind: 'start', account: 'a', process: 'p', stamp: '1790000000000000000' }
test.each([
  ['[1]', 'not a JSON object'],
  [{ ...LINE, kind: 'begin' }, '`kind` must be one of start, end, metrics, exception, output'],
  [{ ...LINE, kind: 'end', output: 'x' }, '`output` is a line of its own'],
  [{ ...LINE, account: '' }, '`account` is missing'],
  [{ ...LINE, stamp: 1 }, '`stamp` must be nanoseconds since the epoch as text'],
  [{ ...LINE, stamp: '-1' }, '`stamp` must be nanoseconds since the epoch as text'],
  [{ ...LINE, stamp: String(2n ** 63n) }, '`stamp` must be nanoseconds since the epoch as text'],
  [{ ...LINE, content: 'x' }, '`content` must be a number below 2⁶⁴ as text'],
  [{ ...LINE, content: String(2n ** 64n) }, '`content` must be a number below 2⁶⁴ as text'],
  [{ ...LINE, process: '' }, 'process must not be empty'],
  [{ ...LINE, uid: 'A' }, 'uid may only hold a-z, 0-9, - and _'],
  [{ ...LINE, kind: 'metrics', items: { a: '1' } }, 'items/a must be a finite number'],
  [{ ...LINE, items: {} }, 'items is not a field of this endpoint'],
])('refuses %j', (line, reason) => {
  expect(() => fromLine(typeof line === 'string' ? line : JSON.stringify(line))).toThrow(reason)
})

describe.each(['events.ndjson', 'events.ndjson.gz'])('%s', (name) => {
  const fileOf = (...lines: readonly (string | Uint8Array)[]) => {
    const bytes = Buffer.concat(lines.flatMap((line) => [Buffer.from(line as string), Buffer.from('\n')]))
    const path = join(tempDir('event-file'), name)
    writeFileSync(path, name.endsWith('.gz') ? gzipSync(bytes) : bytes)
    return path
  }
  const readAll = async (path: string) => {
    const found: Event[] = []
    for await (const { events } of openFileScan(path).read('marks', {})) found.push(...events)
    return found
  }

  test('texts of every script and with every line separator read back as written', async () => {
    const events = ['é', '日本', '🙂', 'a\u2028b\u2029c', 'a\u0085b', 'plain'].map((process) => ({
      ...fromLine(JSON.stringify(LINE)),
      process,
    }))
    expect(await readAll(fileOf(...events.map((event) => toLine(event, true))))).toEqual(events)
  })

  test('a line that is not UTF-8 is refused by its number', async () => {
    const good = JSON.stringify(LINE)
    const bad = Buffer.from(JSON.stringify({ ...LINE, process: 'a?b' })).map((byte) => (byte === 0x3f ? 0xff : byte))
    const path = fileOf(good, good, bad, good)
    await expect(readAll(path)).rejects.toThrow(`${path}, line 3: not valid UTF-8`)
  })
})
