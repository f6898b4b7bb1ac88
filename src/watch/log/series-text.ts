// A series as JSON text. Without the names of members, which would be most of it.
import { createSeries, type Kept, type OpenRun, type Series } from './series.ts'

type Open = [
  ...[uid: string, startedUs: number, restUs: number | null, usualUs: number | null],
  ...[firstUs?: number | null, starts?: number, leadUs?: number],
]
type Orphan = [uid: string, endedUs: number, failed: 0 | 1]
/** In the order of their numbers. */
const FAILURE_KINDS = ['run', 'exception', 'part'] as const
type KeptText = [startedUs: number, tookUs: number, failed: 0 | 1, tag: number]
type Text = readonly [
  numbers: readonly number[],
  open: readonly Open[],
  orphans: readonly Orphan[],
  settled: readonly KeptText[],
  failures: readonly (readonly [atUs: number, kind: number, tag?: number, startedUs?: number])[],
  late: Series['late'],
  exception: Series['exception'],
  seen?: readonly number[],
  held?: readonly Series['held'][number][],
]

/** In the order in which they are stored: new ones only at the end. */
const NUMBERS = [
  ...(['newestStartUs', 'restUs', 'lastUs', 'others', 'row', 'rowWithExceptions'] as const),
  ...(['okUs', 'failedUs', 'exceptionUs', 'wallUs'] as const),
] as const

const bit = (flag: boolean): 0 | 1 => (flag ? 1 : 0)

export function toText(series: Series): string {
  const { open, orphans, settled, failures, late, exception, isBare, seen, held } = series
  return JSON.stringify([
    [bit(isBare), ...NUMBERS.map((name) => series[name])],
    Array.from(open, ([uid, { startedUs, restUs, usualUs, chain, leadUs }]): Open => {
      const run = [uid, startedUs, restUs ?? null, usualUs ?? null] as const
      if (chain === undefined && leadUs === undefined) return [...run]
      return [...run, chain?.firstUs ?? null, chain?.starts ?? 1, leadUs ?? 0]
    }),
    Array.from(orphans, ([uid, { endedUs, failed }]) => [uid, endedUs, bit(failed)]),
    settled.map(({ startedUs, endedUs, failed, tag }) => [startedUs, endedUs - startedUs, bit(failed), tag]),
    failures.map(({ atUs, kind, tag, startedUs }) => [atUs, FAILURE_KINDS.indexOf(kind), tag, startedUs]),
    late,
    exception,
    seen,
    held,
  ] satisfies Text)
}

export function fromText(text: string): Series {
  const [[isBare, ...numbers], open, orphans, settled, failures, late, exception, seen = [], held = []]: Text =
    JSON.parse(text)
  const series = createSeries()
  series.isBare = isBare === 1
  NUMBERS.forEach((name, i) => {
    series[name] = numbers[i] ?? 0
  })
  // rows of 2.0 do not have it
  series.wallUs ||= series.newestStartUs
  series.open = new Map(open.map(([uid, ...run]) => [uid, toOpenRun(...run)]))
  series.orphans = new Map(orphans.map(([uid, endedUs, failed]) => [uid, { endedUs, failed: failed === 1 }]))
  series.settled = settled.map(
    ([startedUs, tookUs, failed, tag]): Kept => ({ startedUs, endedUs: startedUs + tookUs, failed: failed === 1, tag }),
  )
  series.failures = failures.map(([atUs, kind, tag = 0, startedUs = 0]) => ({
    atUs,
    kind: FAILURE_KINDS[kind] ?? 'run',
    tag,
    startedUs,
  }))
  series.late = [...late]
  series.exception = exception
  series.seen = [...seen]
  series.held = [...held]
  return series
}

const toOpenRun = (
  startedUs: number,
  restUs: number | null,
  usualUs: number | null,
  firstUs: number | null = null,
  starts = 1,
  leadUs = 0,
): OpenRun => ({
  startedUs,
  ...(restUs !== null && { restUs }),
  ...(usualUs !== null && { usualUs }),
  ...(firstUs !== null && { chain: { firstUs, starts } }),
  ...(leadUs > 0 && { leadUs }),
})
