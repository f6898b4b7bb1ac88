// Whether all runs of a stretch are known, and which events are the same.
import { expect, test } from 'bun:test'
import { createAccount, findProcess, rowOf } from '../../src/live/account.ts'
import { pairRuns } from '../../src/live/marks.ts'
import { runsAround } from '../../src/live/runs-around.ts'

test('the runs of a stretch are not all known if older ones were left out, or processes', async () => {
  const account = createAccount('ada')
  const row = rowOf(findProcess(account, 'job'), '')
  const isWhole = async () => (await runsAround(account, 10, 20)).isWhole
  row.cutUs = 9
  expect(await isWhole()).toBe(true)
  row.cutUs = 10
  expect(await isWhole()).toBe(false)
  row.cutUs = 9
  account.omitted = 1
  expect(await isWhole()).toBe(false)
})

test('starts of one time are the same only if the rest of their stamps is, too', () => {
  const start = { uid: '', mark: 'start', atUs: 5, restNs: 0 } as const
  expect(pairRuns([start, start], 1e12)).toHaveLength(1)
  expect(pairRuns([start, { ...start, restNs: 2 }], 1e12)).toHaveLength(2)
})
