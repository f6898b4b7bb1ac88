import { afterEach, expect, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import pino from 'pino'
import { type GivenStamps, openGivenStamps } from '../../src/state/given-stamps.ts'
import { createStepClock } from '../support/step-clock.ts'
import { tempDir } from '../support/temp-dir.ts'

const NOW_US = 1_790_000_000_000_000
const DAY_US = 86_400_000_000
const log = pino({ level: 'silent' })

const dirs: string[] = []
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true })
})

function freshPath(): string {
  const dir = tempDir('given')
  dirs.push(dir)
  return join(dir, 'given-stamps.sqlite')
}

const open = (path: string, clock = createStepClock(NOW_US)): GivenStamps =>
  openGivenStamps({ path, keepUs: 7 * DAY_US, clock, log })

test('a time is given as it is, and again to the same content', async () => {
  const given = open(freshPath())
  expect(await given.claim(NOW_US, 'a')).toBe(NOW_US)
  expect(await given.claim(NOW_US, 'a')).toBe(NOW_US)
  given.close()
})

test('another content of the same time gets the next free µs, and keeps it', async () => {
  const given = open(freshPath())
  expect(await given.claim(NOW_US + 1, 'taken')).toBe(NOW_US + 1)
  expect(await given.claim(NOW_US, 'a')).toBe(NOW_US)
  expect(await given.claim(NOW_US, 'b')).toBe(NOW_US + 2)
  expect(await given.claim(NOW_US + 1, 'c')).toBe(NOW_US + 3)
  expect(await given.claim(NOW_US, 'b')).toBe(NOW_US + 2)
  expect(await given.claim(NOW_US + 1, 'taken')).toBe(NOW_US + 1)
  given.close()
})

test('the same content at another time is another event', async () => {
  const given = open(freshPath())
  expect([await given.claim(NOW_US, 'a'), await given.claim(NOW_US + 10, 'a')]).toEqual([NOW_US, NOW_US + 10])
  given.close()
})

test('what is asked twice at once has one answer', async () => {
  const given = open(freshPath())
  const answers = await Promise.all(['a', 'b', 'a', 'c', 'b', 'a'].map((content) => given.claim(NOW_US, content)))
  expect(answers).toEqual([0, 1, 0, 2, 1, 0].map((n) => NOW_US + n))
  given.close()
})

test('a thousand contents of one time are placed one after the other', async () => {
  const given = open(freshPath())
  const answers = await Promise.all(Array.from({ length: 1000 }, (_, i) => given.claim(NOW_US, `content ${i}`)))
  expect(answers).toEqual(Array.from({ length: 1000 }, (_, i) => NOW_US + i))
  given.close()
})

test('answers hold over a restart', async () => {
  const path = freshPath()
  const before = open(path)
  const claims: [number, string][] = Array.from({ length: 50 }, (_, i) => [NOW_US + (i % 3), `content ${i}`])
  const first = await Promise.all(claims.map(([us, content]) => before.claim(us, content)))
  before.close()
  const after = open(path)
  expect(await Promise.all(claims.map(([us, content]) => after.claim(us, content)))).toEqual(first)
  expect(first).not.toContain(await after.claim(NOW_US, 'new'))
  after.close()
})

const CLAIMS_UNTIL_KILLED = `
  const [module, path] = process.argv.slice(1)
  const { openGivenStamps } = await import(module)
  const clock = { wallUs: () => ${NOW_US}, monotonicUs: () => 0 }
  const given = openGivenStamps({ path, keepUs: ${7 * DAY_US}, clock, log: undefined })
  for (let i = 0; ; i++) {
    const at = ${NOW_US} + (i % 5)
    const answers = await Promise.all(['a', 'b', 'c'].map((name) => given.claim(at, name + i)))
    process.stdout.write(answers.map((us, k) => [at, 'abc'[k] + i, us].join(' ')).join('\\n') + '\\n')
  }
`

test('what was answered before a kill -9 is answered again after it', async () => {
  const path = freshPath()
  const module = join(import.meta.dir, '../../src/state/given-stamps.ts')
  const child = Bun.spawn([process.execPath, '-e', CLAIMS_UNTIL_KILLED, module, path], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  let printed = ''
  const decoder = new TextDecoder()
  for await (const chunk of child.stdout) {
    printed += decoder.decode(chunk, { stream: true })
    if (printed.split('\n').length > 300) child.kill('SIGKILL')
  }
  await child.exited
  const answers = printed
    .slice(0, printed.lastIndexOf('\n'))
    .split('\n')
    .map((line) => line.split(' '))
  expect(answers.length).toBeGreaterThanOrEqual(300)

  const given = open(path)
  for (const [at, content, us] of answers) expect(await given.claim(Number(at), content!)).toBe(Number(us))
  expect(new Set(answers.map(([, , us]) => us)).size).toBe(answers.length)
  given.close()
})

test('times that are too old to be sent again are forgotten, younger ones are not', async () => {
  const path = freshPath()
  const clock = createStepClock(NOW_US)
  const given = open(path, clock)
  await given.claim(NOW_US - 6 * DAY_US, 'old')
  await given.claim(NOW_US, 'young')
  clock.pass(2 * DAY_US)
  await given.claim(clock.wallUs(), 'begins the removal')
  given.close()
  const after = open(path, clock)
  expect(await after.claim(NOW_US, 'other')).toBe(NOW_US + 1)
  expect(await after.claim(NOW_US - 6 * DAY_US, 'new')).toBe(NOW_US - 6 * DAY_US)
  after.close()
})

test('a claim on a closed file is rejected, not answered', async () => {
  const given = open(freshPath())
  given.close()
  await expect(given.claim(NOW_US, 'a')).rejects.toThrow()
})

test('one content has one stamp and one stamp one content, whatever is claimed in whatever company', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.tuple(fc.nat(4), fc.constantFrom('a', 'b', 'c', 'd')), { maxLength: 8 }), { maxLength: 8 }),
      async (groups) => {
        const path = freshPath()
        let given = open(path)
        const known = new Map<string, number>()
        for (const group of groups) {
          const answers = await Promise.all(group.map(([at, content]) => given.claim(NOW_US + at, content)))
          group.forEach(([at, content], i) => {
            expect(answers[i]).toBeGreaterThanOrEqual(NOW_US + at)
            expect(known.get(`${at} ${content}`) ?? answers[i]).toBe(answers[i]!)
            known.set(`${at} ${content}`, answers[i]!)
          })
          given.close()
          given = open(path)
        }
        expect(new Set(known.values()).size).toBe(known.size)
        given.close()
      },
    ),
    { numRuns: 25 },
  ))

test('a time inside a long run of taken ones costs no walk along it', async () => {
  const given = open(freshPath())
  await Promise.all(Array.from({ length: 4000 }, (_, i) => given.claim(NOW_US, `first ${i}`)))
  const cpu = process.cpuUsage()
  const answers = await Promise.all(Array.from({ length: 4000 }, (_, i) => given.claim(NOW_US + i, `second ${i}`)))
  const { user, system } = process.cpuUsage(cpu)
  expect(answers).toEqual(Array.from({ length: 4000 }, (_, i) => NOW_US + 4000 + i))
  expect(user + system).toBeLessThan(2_000_000) // the walk took 340 ms for 1,000 and grew as their square
  given.close()
})

test('runs that meet become one', async () => {
  const given = open(freshPath())
  for (const offset of [0, 2, 1, 5, 4]) expect(await given.claim(NOW_US + offset, `at ${offset}`)).toBe(NOW_US + offset)
  expect(await given.claim(NOW_US, 'other')).toBe(NOW_US + 3)
  expect(await given.claim(NOW_US + 1, 'one more')).toBe(NOW_US + 6)
  given.close()
})

test('a file that is none is refused by name', () => {
  const path = freshPath()
  writeFileSync(path, 'not a database at all, but long enough to be taken for one'.repeat(100))
  expect(() => open(path)).toThrow(path)
})
