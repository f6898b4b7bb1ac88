// kill -9 of a process that appends and delivers, at moments of its life; an oracle outside of it knows what it was promised.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { systemDisk } from '../../src/spool/disk.ts'
import { tempDir } from '../support/temp-dir.ts'
import { createLogLines, drain, numbersOf, openOn, quiet } from './spool-trial.ts'

const dir = tempDir('kill')

const MOST_PER_ROUND = 1_000_000
/** After how many of these lines the process is killed. */
const ROUNDS: [line: string, count: number][] = [
  ['acknowledged', 1],
  ['acknowledged', 900],
  ['opening', 1],
  ['delivered', 3],
  ['acknowledged', 2500],
  ['opened', 1],
  ['advanced', 20],
  ['acknowledged', 333],
]

interface Oracle {
  readonly acknowledged: number[]
  readonly delivered: number[]
  readonly advanced: Set<number>
  newestUs: number
}

/** One life: started, listened to, killed; what it told goes into the oracle. */
async function live(first: number, oracle: Oracle, until: string, count: number): Promise<void> {
  const child = Bun.spawn(['bun', join(import.meta.dir, 'kill-child.ts'), dir, String(first)], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const again = new Set<number>()
  let seen = 0
  let batch: number[] = []
  const hear = (line: string) => {
    const [what, ...numbers] = line.split(' ')
    const values = numbers.map(Number)
    if (what === until && ++seen === count) child.kill('SIGKILL')
    if (what === 'opened' && values[0]! < oracle.newestUs) throw new Error('newestUs went back')
    if (what === 'acknowledged') {
      oracle.acknowledged.push(values[0]!)
      oracle.newestUs = Math.max(oracle.newestUs, 1_000_000 + values[0]!)
    }
    if (what === 'delivered') {
      batch = values
      for (const n of values) {
        if (oracle.advanced.has(n) || again.has(n)) throw new Error(`${n} is delivered again after an advance`)
        again.add(n)
      }
      oracle.delivered.push(...values)
    }
    if (what === 'advanced') for (const n of batch) oracle.advanced.add(n)
  }
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of child.stdout) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop()!
    for (const line of lines) hear(line)
  }
  await child.exited
  expect(seen).toBeGreaterThanOrEqual(count)
}

test('after kill -9 at many moments every acknowledged record is delivered in order, and none again after an advance', async () => {
  const oracle: Oracle = { acknowledged: [], delivered: [], advanced: new Set(), newestUs: 0 }
  for (const [round, [line, count]] of ROUNDS.entries()) await live(round * MOST_PER_ROUND, oracle, line, count)

  const { log, lines } = createLogLines()
  const spool = await openOn(systemDisk, { dir, segmentBytes: 64 * 1024, log })
  expect(spool.floorUs).toBeGreaterThanOrEqual(oracle.newestUs)
  const left = numbersOf(await drain(spool, 1000))
  expect(spool.stats().damaged).toBe(0)
  await spool.close()

  const known = new Set([...oracle.delivered, ...left])
  expect(oracle.acknowledged.filter((n) => !known.has(n))).toEqual([])
  expect(left.filter((n) => oracle.advanced.has(n))).toEqual([])
  expect(left).toEqual(left.toSorted((a, b) => a - b))
  expect(oracle.acknowledged.length).toBeGreaterThan(3700)
  expect(oracle.advanced.size).toBeGreaterThan(100)
  expect(quiet(lines)).toBe(true)
})
