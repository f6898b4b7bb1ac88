import { expect, test } from 'bun:test'
import { createOpenStarts } from '../../../src/store/influx/open-starts.ts'
import type { MarkReader, MarkRow } from '../../../src/store/influx/read-marks.ts'

const NOW_S = 1_790_000_000
const HOUR_S = 3600

/** A reader of one process with so many open starts, two hours old; counts the reads of more than an hour. */
function createReader(openStarts: number) {
  const subject = { process: 'p', meta: '' }
  const marks = Array.from(
    { length: openStarts },
    (_, i): MarkRow => ({ mark: 'start', uid: `u${i}`, at: (NOW_S - 2 * HOUR_S) * 1e6 + i, stampUs: i, sub: 0 }),
  )
  let wideReads = 0
  const read = async (startS: number, stopS: number) => {
    if (stopS - startS > HOUR_S) wideReads++
    return [{ subject, marks: marks.filter(({ at }) => at >= startS * 1e6 && at < stopS * 1e6) }]
  }
  const reader: MarkReader = {
    sliceMarks: 1e6,
    subjectOf: () => subject,
    read,
    among: () => ({ read }),
    countMarks: async () => new Map(openStarts > 0 ? [['p', openStarts]] : []),
    readRuns: async () => [],
    readFailed: async () => [],
  }
  return { reader, wideReads: () => wideReads }
}

const poll = (account: string, process?: string, nowS = NOW_S) => ({
  account,
  ...(process !== undefined && { process }),
  fromNs: BigInt(nowS - 900) * 1_000_000_000n,
  toNs: BigInt(nowS) * 1_000_000_000n,
  nowNs: BigInt(nowS) * 1_000_000_000n,
  maxRunNs: 86_400_000_000_000n,
})

test('a second poll reads no whole MAX_RUN, also beside an account with very many open starts', async () => {
  const { find } = createOpenStarts()
  const [small, large] = [createReader(3), createReader(60_000)]
  for (let i = 0; i < 5; i++) {
    await find(large.reader, poll('large'))
    const open = await find(small.reader, poll('small'))
    expect(open!.starts.values().next().value!.size).toBe(3)
  }
  expect(small.wideReads()).toBe(1)
})

test('polls for processes without marks are forgotten, too', async () => {
  const { find } = createOpenStarts()
  const first = createReader(1)
  await find(first.reader, poll('a'))
  const { reader } = createReader(0)
  for (let i = 0; i < 50_000; i++) await find(reader, poll('a', `p${i}`))
  await find(first.reader, poll('a'))
  expect(first.wideReads()).toBe(2)
})

test('what was read while the clock was ahead is read once more and no more', async () => {
  const { find } = createOpenStarts()
  const { reader, wideReads } = createReader(3)
  await find(reader, poll('a', undefined, NOW_S + 10 * HOUR_S))
  for (let i = 0; i < 3; i++) expect(await find(reader, poll('a'))).toBeDefined()
  expect(wideReads()).toBe(2)
})
