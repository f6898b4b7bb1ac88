// A day of 30 jobs with incidents and outages. The month of 200 jobs is test/bench/watches.ts.
import { expect, test } from 'bun:test'
import { runWorld } from '../../bench/watches-world.ts'
import { inMemoryDir } from '../../support/temp-dir.ts'
import { openStore } from '../watch-cast.ts'

test('every incident is notified once and resolved, and nothing else is, whatever is away meanwhile', async () => {
  const report = await runWorld({
    days: 1,
    jobs: 30,
    stepUs: 15e6,
    seed: 7,
    openStore: () => openStore(inMemoryDir()),
  })
  expect(report.incidents).toBeGreaterThan(20)
  expect(report.falseAlerts).toEqual([])
  expect(report.missed).toEqual([])
  expect(report.resolved).toBe(report.incidents)
})
