// The interface through which the evaluation reads the stores: a few bounded queries per account. Times are event times
// in µs since the epoch; a range is [fromUs, toUs).
import type { WatchMark } from '../rules/runs.ts'

export interface KnownMark extends WatchMark {
  readonly process: string
  /** '' = without meta. */
  readonly meta: string
}

export interface NewestStart {
  readonly process: string
  readonly meta: string
  readonly atUs: number
}

export interface KnownException {
  readonly process: string
  readonly meta: string
  /** Absent = unknown. */
  readonly uid?: string
  readonly atUs: number
  /** Its headline. */
  readonly headline: string
  /** Its group was resolved after it: it makes no watch fire. */
  readonly isResolved?: boolean
}

/** One metric of one process in one part of the range. */
export interface MetricPart {
  readonly process: string
  readonly name: string
  /** The start of the part. */
  readonly atUs: number
  readonly count: number
  readonly mean: number
  readonly min: number
  readonly max: number
  readonly last: number
}

export interface Range {
  readonly account: string
  readonly fromUs: number
  readonly toUs: number
}

/** Each holds a whole text until its headline is taken. */
const PAGE_ROWS = 1000
const PAGES_MAX = 200

/** The exceptions of a range, newest first, in bounded questions: at most 200,000, whichever process raised them. */
export async function findAllExceptions(source: Pick<WatchSource, 'findExceptions'>, range: Range) {
  const found: KnownException[] = []
  let { toUs } = range
  for (let page = 0; page < PAGES_MAX; page++) {
    const rows = await source.findExceptions({ ...range, toUs, maxRows: PAGE_ROWS })
    found.push(...rows.filter(({ isResolved }) => isResolved !== true))
    if (rows.length < PAGE_ROWS) break
    toUs = Math.min(rows.at(-1)!.atUs + 1, toUs - 1)
  }
  return found
}

/** All methods reject when the store does not answer. */
export interface WatchSource {
  /** Newest first, at most `maxRows`. `processes`: only these; `perSeries`: the limit per process and meta. */
  findMarks(
    q: Range & {
      readonly processes?: readonly string[] | undefined
      readonly perSeries?: number
      readonly maxRows: number
    },
  ): Promise<KnownMark[]>
  /** The newest start of each process and meta. */
  findNewestStarts(q: Range & { readonly processes?: readonly string[] }): Promise<NewestStart[]>
  /** Newest first, at most `maxRows`. */
  findExceptions(q: Range & { readonly maxRows: number }): Promise<KnownException[]>
  /** Absent `process` and `name`: all; absent meta: all together. */
  aggregateMetrics(
    q: Range & { readonly process?: string; readonly name?: string; readonly meta?: string },
  ): Promise<MetricPart[]>
}
