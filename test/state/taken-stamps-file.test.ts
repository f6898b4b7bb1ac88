// Taken stamps over a stop: the file by itself, and two services on one DATA_DIR.
import { expect, test } from 'bun:test'
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import type { Metrics } from '../../src/event/event.ts'
import { contentOf, ownStamp } from '../../src/event/identity.ts'
import { formatStampNs } from '../../src/event/stamp.ts'
import { createTakenStamps } from '../../src/event/taken-stamps.ts'
import { startService } from '../../src/service.ts'
import { openTakenStampsFile } from '../../src/state/taken-stamps-file.ts'
import { startApp, waitingStores } from '../support/app.ts'
import { tempDir } from '../support/temp-dir.ts'

const freshPath = () => join(tempDir('taken'), 'taken-stamps')
const SERIES = [1, 2] as const
const stamp = (i: number) => ({ us: 1_790_000_000_000_000 + i, sub: 3 })

function open(path: string, slots = 64) {
  const lines: string[] = []
  const table = createTakenStamps(slots)
  const file = openTakenStampsFile(path, table, pino({ base: null }, { write: (line) => void lines.push(line) }))
  return { ...table, ...file, lines }
}

test('the stamps of both generations are taken after a restart, the forgotten ones are free', () => {
  const path = freshPath()
  const first = open(path)
  for (let i = 0; i < 32 + 32 + 10; i++) first.take(SERIES, stamp(i), 7)
  const isTaken = ({ isFree }: typeof first) => Array.from({ length: 74 }, (_, i) => !isFree(SERIES, stamp(i), 8))
  const expected = Array.from({ length: 74 }, (_, i) => i >= 32)
  expect(isTaken(first)).toEqual(expected)
  first.close()
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const second = open(path)
  expect(isTaken(second)).toEqual(expected)
  expect(second.isFree(SERIES, stamp(40), 7)).toBe(true) // its own content
  for (let i = 74; i < 74 + 22; i++) second.take(SERIES, stamp(i), 7) // the young one is full, and not emptied yet
  expect(second.isFree(SERIES, stamp(32), 8)).toBe(false)
  second.take(SERIES, stamp(100), 7)
  expect(second.isFree(SERIES, stamp(32), 8)).toBe(true)
  expect(second.isFree(SERIES, stamp(64), 8)).toBe(false)
  expect(second.lines).toEqual([])
})

test.each<[string, (path: string) => void]>([
  [
    'a flipped bit',
    (path) =>
      writeFileSync(
        path,
        readFileSync(path).map((byte, i) => (i === 30 ? byte ^ 1 : byte)),
      ),
  ],
  ['a missing end', (path) => truncateSync(path, statSync(path).size - 3)],
  ['another header', (path) => writeFileSync(path, 'something else')],
  ['nothing in it', (path) => truncateSync(path, 0)],
])('a file with %s is logged and not used', (_, damage) => {
  const path = freshPath()
  const first = open(path)
  first.take(SERIES, stamp(1), 7)
  first.close()
  damage(path)
  const second = open(path)
  expect(second.isFree(SERIES, stamp(1), 8)).toBe(true)
  expect(second.lines.join()).toContain(path)
})

test('a file of a table of another size is logged and not used', () => {
  const path = freshPath()
  const first = open(path)
  first.take(SERIES, stamp(1), 7)
  first.close()
  const second = open(path, 128)
  expect(second.isFree(SERIES, stamp(1), 8)).toBe(true)
  expect(second.lines.join()).toContain(path)
})

test('a directory that cannot be written is logged and keeps nothing open', () => {
  const first = open(join(freshPath(), 'missing', 'taken-stamps'))
  first.close()
  expect(first.lines.join()).toContain('could not be written')
})

test('two events with one natural stamp get different stamps although Stint was restarted between them', async () => {
  const app = await startApp()
  const atUs = Math.floor(Date.now() / 1000) * 1_000_000 + 5_000
  const metric = (n: number): Metrics => ({
    kind: 'metrics',
    account: app.account,
    process: 'p',
    meta: '',
    stamp: { us: 0, sub: 0 },
    items: [['m', n]],
  })
  const natural = (n: number) => formatStampNs(ownStamp(atUs, contentOf(metric(n))))
  const seen = new Map<string, number>()
  let pair: [number, number] | undefined
  for (let n = 0; pair === undefined; n++) {
    const other = seen.get(natural(n))
    if (other !== undefined) pair = [other, n]
    seen.set(natural(n), n)
  }
  const at = new Date(atUs / 1000).toISOString()
  expect((await app.post('/v1/metrics', { process: 'p', at, items: { m: pair[0] } })).status).toBe(201)
  await app.stop()
  const again = await startService(app.rooms.config, app.clock, pino({ level: 'silent' }), {
    openStores: async () => waitingStores,
  })
  const { stamp: second } = again.rooms.ownStamps.claim(metric(pair[1]), atUs)
  const { stamp: retried } = again.rooms.ownStamps.claim(metric(pair[0]), atUs)
  await again.stop()
  expect(formatStampNs(retried)).toBe(natural(pair[0]))
  expect(formatStampNs(second)).not.toBe(natural(pair[0]))
})
