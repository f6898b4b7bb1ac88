import { expect, test } from 'bun:test'
import { createOpenStarts } from '../../../src/store/influx/open-starts.ts'
import type { MarkReader, SeriesMark } from '../../../src/store/influx/read-marks.ts'

const NOW_S = 1_790_000_000
const HOUR_S = 3600
const MAX_RUN_S = 24 * HOUR_S
/** How far behind now the stretch ends that is remembered. */
const LAG_S = HOUR_S / 2

/** A reader of one process with so many open starts, two hours old; counts the reads of more than an hour. */
const createReader = (openStarts: number) =>
  createReaderOf(Array.from({ length: openStarts }, (_, i) => toMark('start', `u${i}`, NOW_S - 2 * HOUR_S, i)))

const toMark = (mark: SeriesMark['mark'], uid: string, atS: number, us = 0): SeriesMark => ({
  ...{ mark, uid, at: atS * 1e6 + us, stampUs: us, sub: 0 },
})

/** `marks` of one process, in order of time, may grow while it is asked. */
function createReaderOf(marks: readonly SeriesMark[]) {
  const subject = { process: 'p', meta: '' }
  const within = (startS: number, stopS: number) => marks.filter(({ at }) => at >= startS * 1e6 && at < stopS * 1e6)
  let wideReads = 0
  const read = async (startS: number, stopS: number) => {
    if (stopS - startS > HOUR_S) wideReads++
    return [{ subject, marks: within(startS, stopS) }]
  }
  const reader: MarkReader = {
    sliceMarks: 1e6,
    subjectOf: () => subject,
    read,
    among: () => ({ read }),
    async countMarks(startS, stopS) {
      const { length } = within(startS, stopS)
      return new Map(length > 0 ? [['p', length]] : [])
    },
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
  maxRunNs: BigInt(MAX_RUN_S) * 1_000_000_000n,
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

const openUids = async ({ find }: ReturnType<typeof createOpenStarts>, reader: MarkReader, nowS = NOW_S) => {
  const { starts } = (await find(reader, poll('a', undefined, nowS)))!
  return [...starts.values()].flatMap((own) => [...own.keys()])
}

test('a mark that arrives late, before the stretch that was read, settles its start', async () => {
  const open = createOpenStarts()
  const marks = [toMark('start', 'a', NOW_S - 3 * HOUR_S), toMark('start', 'b', NOW_S - 2 * HOUR_S)]
  const { reader } = createReaderOf(marks)
  expect(await openUids(open, reader)).toEqual(['a', 'b'])
  marks.push(toMark('end', 'a', NOW_S - HOUR_S))
  expect(await openUids(open, reader)).toEqual(['b'])
})

test('a start exactly MAX_RUN before the stretch stays open, and one before it does not', async () => {
  const open = createOpenStarts()
  const laterS = NOW_S + HOUR_S
  const edgeS = laterS - LAG_S - MAX_RUN_S
  const { reader } = createReaderOf([toMark('start', 'before', edgeS - 1), toMark('start', 'at the edge', edgeS)])
  expect(await openUids(open, reader)).toEqual(['before', 'at the edge'])
  expect(await openUids(open, reader, laterS)).toEqual(['at the edge'])
})

test('starts that leave the window cost no second read of the others', async () => {
  const { find } = createOpenStarts()
  const leaves = toMark('start', 'leaves', NOW_S - LAG_S - MAX_RUN_S + 60)
  const { reader, wideReads } = createReaderOf([leaves, toMark('start', 'stays', NOW_S - 2 * HOUR_S)])
  for (const hours of [0, 1, 2, 3]) await find(reader, poll('a', undefined, NOW_S + hours * HOUR_S))
  expect(wideReads()).toBe(1)
})

test('what was read while the clock was ahead is read once more and no more', async () => {
  const { find } = createOpenStarts()
  const { reader, wideReads } = createReader(3)
  await find(reader, poll('a', undefined, NOW_S + 10 * HOUR_S))
  for (let i = 0; i < 3; i++) expect(await find(reader, poll('a'))).toBeDefined()
  expect(wideReads()).toBe(2)
})
