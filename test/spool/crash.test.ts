// Power loss, by a model: a run is recorded as the sequence of its writes and syncs. After every single one of them the power goes;
// what was not synced is dropped, kept, cut off after a sector or torn at random; then the spool is opened and asked for its promises.
import { expect, test } from 'bun:test'
import { type Change, crashAfter, errno, FakeDisk, type Survival } from './fake-disk.ts'
import { appendGroups, createLogLines, drain, type LogLine, numbersOf, openOn, recordOf } from './spool-trial.ts'

/** What the run had been told, or had asked for, by then; records are `recordOf(0)`, `recordOf(1)`, … */
type Note = { sent: number } | { acknowledged: number } | { advancing: number } | { advanced: number }

interface Promised {
  sent: number
  acknowledged: number
  advancing: number
  advanced: number
}

function promisedBy(changes: readonly Change[]): Promised {
  const promised = { sent: 0, acknowledged: 0, advancing: 0, advanced: 0 }
  for (const change of changes) if (change.op === 'note') Object.assign(promised, change.note as Note)
  return promised
}

/** Appends groups and advances now and then, closes and opens once in between; tells the disk's record what it was promised. */
async function recordRun(): Promise<FakeDisk> {
  const disk = new FakeDisk()
  let spool = await openOn(disk)
  let sent = 0
  let advanced = 0
  for (let round = 0; round < 14; round++) {
    const size = 1 + ((round * 5) % 9)
    disk.note({ sent: sent + size })
    await appendGroups(spool, [size], sent)
    sent += size
    disk.note({ acknowledged: sent })
    if (round % 3 === 1) {
      const { records, next } = await spool.read(1 + ((round * 3) % 11), 1 << 20)
      disk.note({ advancing: advanced + records.length })
      await spool.advance(next)
      advanced += records.length
      disk.note({ advanced })
    }
    if (round === 7) {
      await spool.close()
      spool = await openOn(disk)
    }
  }
  await spool.close()
  return disk
}

/** Opens what a crash left, checks the promises, appends and delivers; answers how many records were counted as damaged. */
async function checkPromises(
  disk: FakeDisk,
  promised: Promised,
  what: string,
): Promise<{ damaged: number; lines: LogLine[] }> {
  const { log, lines } = createLogLines()
  const spool = await openOn(disk, { log })
  const delivered = await drain(spool)
  const { damaged } = spool.stats()
  const numbers = numbersOf(delivered)
  const fail = (why: string) => {
    throw new Error(`${what}: ${why}\n${JSON.stringify({ promised, numbers, lines })}`)
  }
  if (delivered.some((record, i) => record !== recordOf(numbers[i]!))) fail('a record is not what was sent')
  if (numbers.some((n, i) => i > 0 && n <= numbers[i - 1]!)) fail('out of order or twice')
  if (numbers.some((n) => n < promised.advanced)) fail('delivered again after a durable advance')
  if (numbers.some((n) => n >= promised.sent)) fail('never sent')
  for (let n = promised.advancing; n < promised.acknowledged; n++) if (!numbers.includes(n)) fail(`record ${n} is lost`)
  await spool.append('afterwards', 9_000_000)
  if ((await drain(spool)).join() !== 'afterwards') fail('does not go on')
  await spool.close()
  return { damaged, lines }
}

/** Deterministic chance, so that a failure can be repeated. */
function chance(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    return (state >>> 0) / 2 ** 32
  }
}

const ORDERLY: [string, Survival][] = [
  ['nothing unsynced survives', () => false],
  ['all of it survives', () => true],
  ['all but the last sector survives', (i, of) => i < of - 1],
]

test.each(ORDERLY)('power loss after every write: %s', async (_, survives) => {
  const { changes } = await recordRun()
  expect(changes.length).toBeGreaterThan(100)
  for (let n = 0; n <= changes.length; n++) {
    const seen = changes.slice(0, n)
    const { damaged, lines } = await checkPromises(crashAfter(seen, survives), promisedBy(seen), `after ${n}`)
    expect(lines.filter(({ msg }) => msg.includes('position'))).toEqual([])
    expect(damaged, `after ${n}`).toBe(0)
  }
})

test('power loss after every write: sectors and names survive at random', async () => {
  const { changes } = await recordRun()
  for (let n = 0; n <= changes.length; n++) {
    const random = chance(n)
    const crashed = crashAfter(changes.slice(0, n), () => random() < 0.5)
    await checkPromises(crashed, promisedBy(changes.slice(0, n)), `after ${n}`)
  }
})

test('a second power loss during recovery from the first', async () => {
  const { changes } = await recordRun()
  for (let n = 5; n < changes.length; n += 11) {
    const promised = promisedBy(changes.slice(0, n))
    const once = crashAfter(changes.slice(0, n), (i) => i % 2 === 0)
    const base = replayable(once)
    const recorded = replayable(once)
    await (await openOn(recorded)).close()
    for (let m = base.changes.length; m <= recorded.changes.length; m++) {
      const twice = crashAfter(recorded.changes.slice(0, m), (i) => i % 2 === 1)
      await checkPromises(twice, promised, `after ${n}, then after ${m - base.changes.length}`)
    }
  }
})

test('records that a restart found in the page cache after a kill survive a power loss', async () => {
  const disk = new FakeDisk()
  const killed = await openOn(disk)
  await killed.append(recordOf(0), 1)
  const check = disk.check
  const written = Promise.withResolvers<void>()
  disk.check = async (op, path) => {
    if (op !== 'datasync' || !path.endsWith('.segment')) return check.call(disk, op, path)
    written.resolve()
    return new Promise<undefined>(() => {}) // the process is killed in its write, before the sync
  }
  void killed.append(recordOf(1), 2)
  await written.promise
  disk.check = check
  const spool = await openOn(disk)
  expect(spool.stats().records).toBe(2)
  await spool.append(recordOf(2), 3)
  const after = await openOn(crashAfter(disk.changes, () => false))
  expect(await drain(after)).toEqual([recordOf(0), recordOf(1), recordOf(2)])
  expect(after.stats().damaged).toBe(0)
})

test('the model detects losses without syncs', async () => {
  const { changes } = await recordRun()
  const careless = changes.filter(({ op }) => op !== 'datasync')
  let lost = 0
  for (let n = 0; n <= careless.length; n++) {
    const seen = careless.slice(0, n)
    await checkPromises(
      crashAfter(seen, () => false),
      promisedBy(seen),
      `after ${n}`,
    ).catch(() => lost++)
  }
  expect(lost).toBeGreaterThan(20)
})

test('after a failed sync no later acknowledged record is lost, whatever reached the disk', async () => {
  for (let failing = 0; failing < 12; failing++) {
    const disk = new FakeDisk()
    const spool = await openOn(disk)
    let syncs = 0
    disk.fault = ({ op, path }) =>
      op === 'datasync' && path.endsWith('.segment') && syncs++ === failing ? errno('EIO') : undefined
    const acknowledged: number[] = []
    let sent = 0
    for (let round = 0; round < 20; round++) {
      const group = Array.from({ length: 1 + (round % 4) }, () => sent++)
      const answers = await Promise.allSettled(group.map((n) => spool.append(recordOf(n), 1_000_000 + n)))
      expect(new Set(answers.map(({ status }) => status)).size).toBe(1)
      if (answers[0]!.status === 'fulfilled') acknowledged.push(...group)
    }
    expect(acknowledged.length).toBeGreaterThan(sent / 2)
    for (const survives of [() => true, () => false, (i: number) => i % 2 === 0]) {
      const crashed = await openOn(crashAfter(disk.changes, survives))
      const numbers = numbersOf(await drain(crashed))
      expect(numbers.filter((n) => acknowledged.includes(n))).toEqual(acknowledged)
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    }
    expect(numbersOf(await drain(spool))).toEqual(acknowledged)
  }
})

/** The same disk, with a record that begins by making it. */
function replayable(disk: FakeDisk): FakeDisk {
  const copy = new FakeDisk()
  for (const [path, old] of disk.names) {
    const bytes = disk.inodes.get(old)!.slice()
    copy.put(path, bytes)
    const inode = copy.names.get(path)!
    copy.changes.push({ op: 'create', path, inode }, { op: 'write', inode, at: 0, bytes }, { op: 'datasync', inode })
  }
  copy.changes.push({ op: 'syncDir', dir: '/spool' })
  return copy
}
