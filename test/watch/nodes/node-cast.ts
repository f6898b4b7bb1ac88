// What a node needs besides its database: real spools, a store of events that knows of nothing before, and a sender that sends nothing.
import { join } from 'node:path'
import type { Event } from '../../../src/event/event.ts'
import { toRecord } from '../../../src/event/record.ts'
import { openSpool } from '../../../src/spool/open-spool.ts'
import { applyRecord } from '../../../src/watch/log/apply-record.ts'
import type { NodeOptions } from '../../../src/watch/nodes/watch-node.ts'
import { ACCOUNT, silent } from '../watch-cast.ts'

export type Spools = Awaited<ReturnType<typeof openSpools>>

export async function openSpools(dir: string) {
  const openOne = (name: string) =>
    openSpool({ dir: join(dir, name), maxBytes: 2 ** 24, minFreeBytes: 0, isFollowed: true, log: silent })
  return { points: await openOne('points'), exceptions: await openOne('exceptions') }
}

export const closeSpools = ({ points, exceptions }: Spools) => Promise.all([points.close(), exceptions.close()])

/** One clock for everything. */
export const optionsOf = (spools: Spools, nowUs: () => number): Omit<NodeOptions, 'store'> => ({
  ...{ spools, receivingUs: () => undefined, nowUs, logUs: nowUs, monotonicUs: nowUs, maxRunUs: 86_400e6, log: silent },
  source: { findMarks: async () => [] },
  accepts: () => true,
  lastArrivalUs: () => 0,
  publicUrl: () => 'https://stint.example',
  apply: (judge, record, arrivedUs) => applyRecord(judge, record, arrivedUs, async () => false),
  deliver: async () => 'nothing is sent here',
  meter: { delivered() {}, failed() {}, seconds() {}, alertSeconds() {} },
})

/** A start, or the end of a run that failed, which happened when it arrived. */
export async function accept({ points }: Spools, kind: 'start' | 'failed', process: string, us: number): Promise<void> {
  const common = { account: ACCOUNT, process, meta: '', uid: '', stamp: { us, sub: 0 } }
  const event: Event = kind === 'start' ? { ...common, kind } : { ...common, kind: 'end', failed: true }
  await points.append(toRecord(event), us, ACCOUNT)
}
