import { expect, test } from 'bun:test'
import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { openMovedStamps } from '../../src/state/moved-stamps.ts'
import { createStepClock } from '../support/step-clock.ts'
import { tempDir } from '../support/temp-dir.ts'

const NOW_US = 1_790_000_000_000_000
const DAY_US = 86_400_000_000

const freshPath = () => join(tempDir('moved'), 'moved-stamps')
function open(path: string, { clock = createStepClock(NOW_US), maxEntries = 1000, lines = [] as string[] } = {}) {
  const log = pino({ base: null }, { write: (line) => void lines.push(line) })
  return openMovedStamps({ path, keepUs: 7 * DAY_US, clock, log, maxEntries })
}
const content = (i: number) => 2n ** 63n + BigInt(i)

test('a move is found immediately and after a restart', async () => {
  const path = freshPath()
  const moved = open(path)
  expect(moved.find(NOW_US, content(1))).toBeUndefined()
  const kept = moved.keep(NOW_US, content(1), 3)
  expect(moved.find(NOW_US, content(1))).toEqual({ moved: 3, kept: expect.any(Promise) })
  await kept
  expect(moved.find(NOW_US, content(1))).toEqual({ moved: 3, kept: undefined })
  await moved.close()
  const again = open(path)
  expect(again.find(NOW_US, content(1))).toEqual({ moved: 3, kept: undefined })
  expect(again.find(NOW_US, content(2))).toBeUndefined()
  await again.keep(NOW_US, content(2), 1)
  await again.close()
  const last = open(path)
  expect([1, 2].map((i) => last.find(NOW_US, content(i))?.moved)).toEqual([3, 1])
  await last.close()
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('acknowledged moves survive kill -9', async () => {
  const path = freshPath()
  const script = `
    const { openMovedStamps } = await import(process.argv[1])
    const clock = { wallUs: () => ${NOW_US} }
    const moved = openMovedStamps({ path: process.argv[2], keepUs: ${DAY_US}, clock, log: undefined })
    for (let i = 0; ; i += 3) {
      await Promise.all([0, 1, 2].map((k) => moved.keep(${NOW_US}, ${2n ** 63n}n + BigInt(i + k), i + k)))
      process.stdout.write(i + 2 + '\\n')
    }`
  const module = join(import.meta.dir, '../../src/state/moved-stamps.ts')
  const child = Bun.spawn([process.execPath, '-e', script, module, path], { stdin: 'ignore', stderr: 'inherit' })
  let printed = ''
  for await (const chunk of child.stdout) {
    printed += new TextDecoder().decode(chunk)
    if (printed.split('\n').length > 100) child.kill('SIGKILL')
  }
  await child.exited
  const acknowledged = Number(printed.slice(0, printed.lastIndexOf('\n')).split('\n').at(-1))
  expect(acknowledged).toBeGreaterThan(200)
  const moved = open(path, { maxEntries: 100_000 })
  for (let i = 0; i <= acknowledged; i++) expect(moved.find(NOW_US, content(i))?.moved).toBe(i)
  await moved.close()
})

function flipBit(path: string, at: number): void {
  const bytes = readFileSync(path)
  bytes[at]! ^= 2
  writeFileSync(path, bytes)
}

test.each<[string, (path: string) => void, number[]]>([
  ['cut', (path) => truncateSync(path, statSync(path).size - 5), [9]],
  ['garbage behind it', (path) => appendFileSync(path, 'x'.repeat(50)), []],
  ['a flipped bit in a record', (path) => flipBit(path, 8 + 24 * 6 + 3), [6]],
  ['a flipped bit in its header', (path) => flipBit(path, 2), []],
  ['a flipped bit in its version', (path) => flipBit(path, 7), []],
])('a file with %s keeps the other moves, logs the damage, and accepts new moves', async (_, damage, lost) => {
  const path = freshPath()
  const moved = open(path)
  for (let i = 0; i < 10; i++) await moved.keep(NOW_US, content(i), i + 1)
  await moved.close()
  damage(path)
  const lines: string[] = []
  const damaged = open(path, { lines })
  expect(Array.from({ length: 10 }, (_, i) => damaged.find(NOW_US, content(i)) !== undefined)).toEqual(
    Array.from({ length: 10 }, (_, i) => !lost.includes(i)),
  )
  expect(lines.join()).toContain(path)
  await damaged.keep(NOW_US, content(50), 7)
  await damaged.close()
  const after = open(path)
  expect(after.find(NOW_US, content(50))?.moved).toBe(7)
  for (let i = 0; i < 10; i++) expect(after.find(NOW_US, content(i))?.moved).toBe(lost.includes(i) ? undefined : i + 1)
  await after.close()
})

test('the list and its file are bounded: the oldest moves are removed', async () => {
  const path = freshPath()
  const moved = open(path, { maxEntries: 100 })
  for (let i = 0; i < 1000; i++) await moved.keep(NOW_US, content(i), 1)
  expect(moved.find(NOW_US, content(899))).toBeUndefined()
  expect(moved.find(NOW_US, content(900))).toBeDefined()
  expect(statSync(path).size).toBeLessThanOrEqual(8 + 24 * 201)
  await moved.close()
})

test('times that are no longer accepted are removed at the start', async () => {
  const path = freshPath()
  const moved = open(path)
  await moved.keep(NOW_US - 6 * DAY_US, content(1), 1)
  await moved.keep(NOW_US, content(2), 1)
  await moved.close()
  const later = open(path, { clock: createStepClock(NOW_US + 2 * DAY_US) })
  expect(later.find(NOW_US - 6 * DAY_US, content(1))).toBeUndefined()
  expect(later.find(NOW_US, content(2))).toBeDefined()
  await later.close()
})

test('a failing disk rejects the move, which is not found afterwards; the next one is written', async () => {
  const path = join(freshPath(), 'no-such-directory', 'moved-stamps')
  const lines: string[] = []
  const moved = open(path, { lines })
  for (let n = 0; n < 3; n++) await expect(moved.keep(NOW_US, content(1), 1)).rejects.toThrow('ENOENT')
  expect(lines.map((line) => JSON.parse(line).path)).toEqual([path])
  expect(moved.find(NOW_US, content(1))).toBeUndefined()
  const { mkdirSync } = await import('node:fs')
  mkdirSync(join(path, '..'), { recursive: true })
  await moved.keep(NOW_US, content(1), 1)
  await moved.close()
  const again = open(path)
  expect(again.find(NOW_US, content(1))?.moved).toBe(1)
  await again.close()
})

test('a file of a newer version is refused by name', () => {
  const path = freshPath()
  writeFileSync(path, 'STINTMV2 something else')
  expect(() => open(path)).toThrow(path)
})

test('rejects a move after the close', async () => {
  const moved = open(freshPath())
  await moved.close()
  await expect(moved.keep(NOW_US, content(1), 1)).rejects.toThrow('closed')
})
