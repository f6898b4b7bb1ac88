// What a failing disk costs, beyond what model.test.ts says: that exactly the appends of the failed group are rejected, and
// that the spool is well again when the disk is, without a restart.
import { expect, test } from 'bun:test'
import { errno, FakeDisk } from './fake-disk.ts'
import { createLogLines, drain, openOn, recordOf, segmentsOf, untilTaken } from './spool-trial.ts'

test('while the disk fails every append is answered with few calls, and the spool recovers by itself', async () => {
  const disk = new FakeDisk()
  const { log, lines } = createLogLines()
  const spool = await openOn(disk, { log })
  await spool.append(recordOf(0), 1)
  disk.fault = ({ op }) => (op === 'write' || op === 'datasync' ? errno('EIO') : undefined)
  const [before, since] = [disk.calls, performance.now()]
  for (let n = 1; n < 500; n++) expect(spool.append('rejected', 1)).rejects.toMatchObject({ code: 'disk_failed' })
  await spool.append('rejected', 1).catch(() => {})
  for (let n = 0; n < 300; n++) await spool.append('rejected', 1).catch(() => {})
  const seconds = (performance.now() - since) / 1000 // in each of which the writer may try again, while 800 appends come in far less
  expect(disk.calls - before).toBeLessThan(60 + 30 * seconds)
  expect(lines.filter(({ level }) => level === 50).length).toBeLessThan(10 + seconds)
  disk.fault = undefined
  await untilTaken(spool, recordOf(1))
  expect(await drain(spool)).toEqual([recordOf(0), recordOf(1)])
  expect(lines.some(({ msg }) => msg === 'the disk takes records again')).toBe(true)
})

test('without room for a new segment the current one is filled, and the next one is created when there is room', async () => {
  const disk = new FakeDisk()
  const spool = await openOn(disk, { segmentBytes: 1024 })
  await spool.append(recordOf(0), 1)
  disk.fault = ({ op, path }) => (op === 'open' && !disk.names.has(path) ? errno('ENOSPC') : undefined)
  let sent = 1
  while (
    await spool.append(recordOf(sent), 1).then(
      () => true,
      () => false,
    )
  )
    sent++
  expect(sent).toBeGreaterThan(15)
  expect(await drain(spool)).toEqual(Array.from({ length: sent }, (_, i) => recordOf(i)))
  disk.fault = undefined
  await untilTaken(spool, recordOf(sent))
  expect(await drain(spool)).toEqual([recordOf(sent)])
})

test('a throwing log rejects only the appends of the failed group, and the spool continues', async () => {
  const disk = new FakeDisk()
  const throwing = () => {
    throw errno('ENOSPC')
  }
  const { log } = createLogLines()
  Object.assign(log, { info: throwing, warn: throwing, error: throwing })
  const unhandled: unknown[] = []
  const note = (error: unknown) => unhandled.push(error)
  process.on('unhandledRejection', note)
  const spool = await openOn(disk, { log })
  await spool.append(recordOf(0), 1)
  disk.fault = ({ op }) => (op === 'write' || op === 'truncate' || op === 'open' ? errno('EIO') : undefined)
  const code = (n: number) =>
    Promise.race([
      spool.append(recordOf(n), 1).then(
        () => 'acknowledged',
        (error) => error.code,
      ),
      Bun.sleep(30_000).then(() => 'no answer'),
    ])
  for (let n = 1; n < 6; n++) expect(await code(n)).toBe('disk_failed')
  disk.fault = undefined
  await untilTaken(spool, recordOf(6))
  expect(await drain(spool)).toEqual([recordOf(0), recordOf(6)])
  await spool.close()
  process.off('unhandledRejection', note)
})

test('a failure leaves no unused files', async () => {
  const disk = new FakeDisk()
  const spool = await openOn(disk)
  disk.fault = ({ op, n }) => (op === 'datasync' && n % 3 === 0 ? errno('EIO') : undefined)
  for (let n = 0; n < 200; n++) await spool.append(recordOf(n), 1).catch(() => {})
  disk.fault = undefined
  await drain(spool)
  expect(segmentsOf(disk).length).toBeLessThanOrEqual(3)
})

test('a segment that could not be removed is removed later', async () => {
  const disk = new FakeDisk()
  const spool = await openOn(disk)
  for (let n = 0; n < 60; n++) await spool.append(recordOf(n), 1)
  disk.fault = ({ op }) => (op === 'unlink' ? errno('EROFS') : undefined)
  await spool.advance((await spool.read(40, 1 << 20)).next)
  const kept = segmentsOf(disk).length
  disk.fault = undefined
  expect(await drain(spool)).toHaveLength(20)
  expect(segmentsOf(disk).length).toBeLessThan(kept - 2)
})

test('an unhandled rejection of an append does not end the process', async () => {
  const disk = new FakeDisk()
  const spool = await openOn(disk)
  disk.fault = ({ op }) => (op === 'write' ? errno('EIO') : undefined)
  const unhandled: unknown[] = []
  const note = (error: unknown) => unhandled.push(error)
  process.on('unhandledRejection', note)
  void spool.append('left alone', 1)
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
  expect(disk.calls).toBeGreaterThan(0)
})
