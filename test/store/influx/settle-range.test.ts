// That the answer is that of the whole window: test/contract/pairing.ts. Here what it reads for it, of 400,000 marks.
import { expect, test } from 'bun:test'
import type { MarkReader, RunKey, SeriesMark } from '../../../src/store/influx/read-marks.ts'
import { settleRange } from '../../../src/store/influx/settle-range.ts'
import { type PairedMarks, streamTimings } from '../../../src/store/influx/stream-timings.ts'

const DAY_S = 86_400
const T0_S = Date.UTC(2026, 10, 20) / 1000
const DAYS = 4
const RUNS = 200_000
const PROCESSES = 50
const NS = 1_000_000_000n

/** The marks of runs of 1 s to 16 minutes of fifty processes, in the order of time; `sub` is the process. */
function marksOf(uidOf: (run: number) => string): SeriesMark[] {
  const marks: SeriesMark[] = []
  const add = (mark: SeriesMark['mark'], run: number, at: number) =>
    marks.push({ mark, uid: uidOf(run), at, stampUs: at, sub: run % PROCESSES })
  for (let run = 0; run < RUNS; run++) {
    const at = Math.floor((T0_S + (run * DAYS * DAY_S) / RUNS) * 1e6)
    add('start', run, at)
    if (run % 1000 !== 999) add('end', run, at + Math.floor(2 ** ((run % 97) / 9.7) * 1e6))
  }
  return marks.sort((a, b) => a.at - b.at)
}

/** A reader that counts the marks it returns. */
function createReader(marks: readonly SeriesMark[]) {
  const subjects = Array.from({ length: PROCESSES }, (_, i) => ({ process: `p${i}`, meta: '' }))
  const seriesOf = (found: readonly SeriesMark[]) =>
    [...Map.groupBy(found, ({ sub }) => sub)].map(([sub, marks]) => ({ subject: subjects[sub]!, marks }))
  let [count, reads] = [0, 0]
  const placeOf = (s: number): number => {
    let low = 0
    for (let high = marks.length; low < high; ) {
      const middle = (low + high) >> 1
      if (marks[middle]!.at < s * 1e6) low = middle + 1
      else high = middle
    }
    return low
  }
  const read = async (startS: number, stopS: number, maxRows = Number.POSITIVE_INFINITY) => {
    const found = marks.slice(placeOf(startS), placeOf(stopS))
    count += Math.min(found.length, maxRows)
    reads++
    return found.length > maxRows ? undefined : seriesOf(found)
  }
  const readRuns = async (runs: readonly RunKey[], startS: number, stopS: number) => {
    const isOne = ({ uid, sub }: SeriesMark) => runs.some((run) => run.uid === uid && run.subject === subjects[sub])
    const found = marks.slice(placeOf(startS), placeOf(stopS)).filter(isOne)
    count += found.length
    reads++
    return seriesOf(found)
  }
  const reader: Pick<MarkReader, 'read' | 'readRuns' | 'sliceMarks'> = { sliceMarks: 60_000, read, readRuns }
  return { reader, counted: () => ({ count, reads }) }
}

const question = (fromS: number, lengthS: number) => ({
  ...{ account: 'a', fromNs: BigInt(fromS) * NS, toNs: BigInt(fromS + lengthS) * NS },
  ...{ maxRunNs: BigInt(DAY_S) * NS, nowNs: BigInt(T0_S + DAYS * DAY_S) * NS },
})

/** What the marks of the range settle. */
async function settledBy(
  q: ReturnType<typeof question>,
  ask: (visit: (timing: PairedMarks) => undefined) => Promise<unknown>,
): Promise<string[]> {
  const settled: string[] = []
  await ask(({ state, mark, start }) => {
    if (mark.at * 1000 >= Number(q.fromNs) && mark.at * 1000 < Number(q.toNs))
      settled.push(`${mark.at} ${mark.sub} ${mark.uid} ${state} ${start?.at}`)
    return undefined
  })
  return settled.toSorted()
}

test.each([
  ['with a uid each', (run: number) => `u${run}`],
  ['of workers, which use one uid for all', (run: number) => `w${run % 7}`],
  ['without uids', () => ''],
])('an hour of runs %s reads a fifth at most', async (_, uidOf) => {
  const marks = marksOf(uidOf)
  const q = question(T0_S + 2 * DAY_S, 3600)
  const [near, whole] = [createReader(marks), createReader(marks)]
  const found = await settledBy(q, (visit) => settleRange(near.reader, q, visit))
  expect(found).toEqual(await settledBy(q, (visit) => streamTimings(whole.reader, q, visit)))
  expect(found.length).toBeGreaterThan(1_900)
  expect(near.counted().count).toBeLessThan(whole.counted().count / 5)
  expect(near.counted().reads).toBeLessThan(10)
})

test('a range that is longer than MAX_RUN, or holds too much, is left to the whole window', async () => {
  const { reader, counted } = createReader(marksOf((run) => `u${run}`))
  for (const q of [question(T0_S, 2 * DAY_S), question(T0_S + 3 * DAY_S, DAY_S)])
    expect(await settledBy(q, async (visit) => expect(await settleRange(reader, q, visit)).toBe(false))).toEqual([])
  expect(counted().reads).toBe(1)
})
