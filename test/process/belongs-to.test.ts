// Which run an exception belongs to.
import { expect, test } from 'bun:test'
import { belongsTo, findRun, type RunSpan } from '../../src/process/belongs-to.ts'

const S = 1e6
const run = (uid: string | null, startUs: number, endUs: number): RunSpan => ({ uid, startUs, endUs })

test('with a uid: the run of that uid, up to 60 s after its end', () => {
  const runs = [run('a', 0, 10 * S), run('b', 0, 100 * S)]
  expect(findRun({ atUs: 70 * S, uid: 'a' }, runs)).toBe(runs[0])
  expect(findRun({ atUs: 70 * S + 1, uid: 'a' }, runs)).toBeUndefined()
  expect(findRun({ atUs: -1, uid: 'a' }, runs)).toBeUndefined()
})
test('of several runs of one uid the newest that had started', () => {
  const runs = [run('a', 0, 10 * S), run('a', 20 * S, Number.POSITIVE_INFINITY)]
  expect(findRun({ atUs: 19 * S, uid: 'a' }, runs)).toBe(runs[0])
  expect(findRun({ atUs: 21 * S, uid: 'a' }, runs)).toBe(runs[1])
  expect(belongsTo({ atUs: 21 * S, uid: 'a' }, runs[0]!, runs)).toBe(false)
})
test('without a uid: each run that is open then', () => {
  const runs = [run('a', 0, 10 * S), run(null, 5 * S, 15 * S)]
  const owners = (atUs: number) => runs.filter((it) => belongsTo({ atUs, uid: null }, it, runs))
  expect(owners(7 * S)).toEqual(runs)
  expect(owners(12 * S)).toEqual([runs[1]!])
  expect(owners(16 * S)).toEqual([])
  expect(findRun({ atUs: 7 * S, uid: null }, runs)).toBe(runs[1])
})
test('a failed end without a start has those with its uid from 60 s before it to 60 s after it', () => {
  const bare = { ...run('a', 100 * S, 100 * S), isBare: true }
  const has = (atUs: number, uid: string | null = 'a') => belongsTo({ atUs, uid }, bare, [bare])
  expect([has(39 * S), has(40 * S), has(160 * S), has(161 * S), has(100 * S, null)]).toEqual([
    ...[false, true, true, false, false],
  ])
})
