// A start with much in the spool is as ready as one without: what is in it is found by the last segment, not read through.
import { afterEach, expect, test } from 'bun:test'
import { writeBacklog } from '../support/fault-backlog.ts'
import { countSpooled } from '../support/oracle.ts'
import { createStintProcess, STORES_AWAY, type StintProcess } from '../support/process.ts'
import { cpuMs } from '../support/process-figures.ts'

const EVENTS = 200_000
const READY_WITHIN_CPU_MS = 5_000

let stint: StintProcess | undefined
afterEach(() => stint?.close())

test('with 200,000 events in the spool it is ready within five seconds of processor time, also after a kill -9', async () => {
  stint = createStintProcess(STORES_AWAY)
  const us = Date.now() * 1000 - EVENTS
  await writeBacklog(stint.dataDir, 'points', EVENTS, (i) => ({
    kind: 'metrics',
    account: 'acc_backlog',
    process: `job ${i % 7}`,
    meta: '',
    items: [['value', i]],
    stamp: { us: us + i, sub: 0 },
  }))
  for (let starts = 0; starts < 2; starts++) {
    await stint.start()
    expect(cpuMs(stint.pid())).toBeLessThan(READY_WITHIN_CPU_MS)
    expect((await countSpooled(stint.url))?.points).toBe(EVENTS)
    await stint.kill()
  }
})
