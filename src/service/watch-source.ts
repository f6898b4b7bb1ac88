// The stores as the evaluation of watches asks them: times in µs, exceptions by their headline.
import type { ExceptionSource, PointSource } from '../store/source.ts'
import type { Range, WatchSource } from '../watch/evaluate/watch-source.ts'
import { headlineOf } from '../wire/headline.ts'

const toNs = (us: number): bigint => BigInt(Math.round(us)) * 1000n
const toUs = (ns: bigint): number => Number(ns / 1000n)
const range = ({ account, fromUs, toUs: untilUs }: Range) => ({ account, fromNs: toNs(fromUs), toNs: toNs(untilUs) })

const METRIC_ROWS_MAX = 100_000

export function createWatchSource(points: PointSource, exceptions: ExceptionSource): WatchSource {
  return {
    async findMarks({ processes, perSeries, maxRows, ...q }) {
      const rows = await points.findMarks({
        ...range(q),
        maxRows,
        ...(processes && { processes }),
        ...(perSeries !== undefined && { perSeries }),
      })
      return rows.map(({ process, meta, uid, mark, ns }) => ({ process, meta, uid, mark, atUs: toUs(ns) }))
    },
    async findNewestStarts({ processes, ...q }) {
      const rows = await points.findNewestStarts({ ...range(q), ...(processes && { processes }) })
      return rows.map(({ process, meta, ns }) => ({ process, meta, atUs: toUs(ns) }))
    },
    async findExceptions({ maxRows, ...q }) {
      const rows = await exceptions.findExceptions(range(q), { limit: maxRows })
      return rows.map(({ process, meta, uid, atNs, exception }) => ({
        process,
        meta,
        atUs: toUs(atNs),
        headline: headlineOf(exception),
        ...(uid !== '' && { uid }),
      }))
    },
    async aggregateMetrics({ process, name, meta, ...q }) {
      const rows = await points.aggregateMetrics({
        ...range(q),
        everyNs: toNs(q.toUs - q.fromUs),
        maxRows: METRIC_ROWS_MAX,
        ...(process !== undefined && { process }),
        ...(name !== undefined && { name }),
        ...(meta !== undefined && { meta }),
      })
      if (rows.length >= METRIC_ROWS_MAX) throw new Error('the metrics of the watches have too many series')
      return rows.map(({ atNs, ...row }) => ({ ...row, atUs: toUs(atNs) }))
    },
  }
}
