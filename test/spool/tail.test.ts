// The tail of the log: a rejected record is gone also when the power fails.
import { expect, test } from 'bun:test'
import { crashAfter, errno, FakeDisk } from './fake-disk.ts'
import { appendGroups, drain, openOn, segmentsOf } from './spool-trial.ts'

test('a first record that is rejected is gone also when the power fails right behind the rejection', async () => {
  let rejected = 0
  for (let nth = 1; nth <= 6; nth++) {
    const disk = new FakeDisk()
    await using spool = await openOn(disk, { segmentBytes: 4096 })
    let syncs = 0
    disk.fault = ({ op, path }) =>
      op === 'datasync' && path.endsWith('.segment') && ++syncs === nth ? errno('EIO') : undefined
    const error = await spool.append('first'.repeat(500), 1).catch((error) => error)
    if (error?.mayBeKept !== false) continue
    rejected++
    // the sectors of the record survive, names only if they were synced
    expect(await drain(await openOn(crashAfter(disk.changes, (_, of) => of > 3)))).toEqual([])
  }
  expect(rejected).toBeGreaterThan(1)
})

test('a rejected record that is not to be kept is gone also when the power fails right behind the rejection', async () => {
  const disk = new FakeDisk()
  await using spool = await openOn(disk, { segmentBytes: 4096 })
  const records = await appendGroups(spool, [3])
  const path = segmentsOf(disk)[0]!
  let faults = 0
  disk.fault = (call) => (call.op === 'datasync' && call.path === path && faults++ === 0 ? errno('EIO') : undefined)
  await expect(spool.append('rejected', 2_000_000)).rejects.toMatchObject({ code: 'disk_failed', mayBeKept: false })
  // every write survives, and the last change of each file only if it was synced
  const after = crashAfter(disk.changes, (i, of) => i < of - 1)
  expect(await drain(await openOn(after))).toEqual(records)
})

test('a rejected record whose removal failed as well is said to be kept perhaps', async () => {
  const disk = new FakeDisk()
  const spool = await openOn(disk)
  await spool.append('before', 1)
  disk.fault = ({ op }) => (op === 'datasync' || op === 'truncate' ? errno('EIO') : undefined)
  await expect(spool.append('refused', 2)).rejects.toMatchObject({ code: 'disk_failed', mayBeKept: true })
  disk.fault = undefined
  expect(await drain(await openOn(disk.clone()))).toEqual(['before', 'refused']) // which is why it says so
})
