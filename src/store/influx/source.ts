// Answers questions about points from InfluxDB 2. A caller's values enter queries only through the `flux` tag.
import { type MetricSelection, type PointSource, type Selection, StoreError, type TimingSelection } from '../source.ts'
import { collectRows, createInfluxClient, flux, type InfluxAddress, type InfluxClient, InfluxFault } from './client.ts'
import { findMetrics } from './find-metrics.ts'
import { findMarks } from './marks.ts'
import { aggregateMetrics, findNewestMetrics, narrowToRun } from './metrics.ts'
import { createOpenStarts } from './open-starts.ts'
import { findProcesses } from './processes.ts'
import { createMarkReader } from './read-marks.ts'
import { fluxTime, pointsIn, whereTags } from './selection.ts'
import { findStartTimes } from './start-times.ts'
import { summarizeTimings } from './summarize.ts'
import { findLatest, findMatching, findTimings } from './timings.ts'

const TIMEOUT_MS = 30_000

interface InfluxSourceOptions extends InfluxAddress {
  /** Limit of one read: it is then cancelled, here and on the server. */
  readonly timeoutMs?: number
  /** Limit of the ping that tells a slow answer from a server that is away. */
  readonly pingMs?: number
  /** Marks that should be read at once. */
  readonly sliceMarks?: number
  /** See open-starts.ts. */
  readonly openLagS?: number
}

export function createInfluxSource({
  timeoutMs = TIMEOUT_MS,
  pingMs,
  sliceMarks,
  openLagS,
  ...address
}: InfluxSourceOptions): PointSource {
  const client = createInfluxClient(address, timeoutMs, pingMs)
  const openStarts = createOpenStarts(openLagS)
  const readerOf = (q: TimingSelection) => createMarkReader(client, q, { sliceMarks })

  /** InfluxDB calls an empty range an error. */
  async function ask<T>(
    { fromNs, toNs }: Pick<Selection, 'fromNs' | 'toNs'>,
    nothing: T,
    question: () => Promise<T>,
  ): Promise<T> {
    if (fromNs >= toNs) return nothing
    try {
      return await question()
    } catch (cause) {
      if (!(cause instanceof InfluxFault)) throw cause
      const isTooSlow = cause.timedOut && (await client.isUp())
      throw new StoreError(`InfluxDB did not answer: ${cause.message}`, { cause, isTooSlow })
    }
  }

  async function ofRun<Q extends MetricSelection, T>(q: Q, find: (narrow: Q) => Promise<T[]>): Promise<T[]> {
    const narrow = await narrowToRun(client, q)
    return narrow === undefined ? [] : find(narrow)
  }

  return {
    pagesStopEarly: true,
    findTimings: (q, page) => ask(q, [], () => findTimings(readerOf(q), openStarts, q, page)),
    findMatching: (q, page, matches) => ask(q, [], () => findMatching(readerOf(q), openStarts, q, page, matches)),
    findLatest: (q) => ask(q, [], () => findLatest(readerOf(q), openStarts, q)),
    summarizeTimings: (q) => ask(q, [], () => summarizeTimings(readerOf(q), openStarts, q)),
    findMarks: (q) => ask(q, [], () => findMarks(client, q)),
    findStartTimes: (q) => ask(q, [], () => findStartTimes(client, q)),
    findMetrics: (q, page) => ask(q, [], () => ofRun(q, (narrow) => findMetrics(client, narrow, page))),
    aggregateMetrics: (q) => ask(q, [], () => ofRun(q, (narrow) => aggregateMetrics(client, narrow))),
    findNewestMetrics: (q) => ask(q, [], () => findNewestMetrics(client, q)),
    findPointProcesses: (q) => ask(q, [], () => findProcesses(client, q)),

    countMarks: (q) =>
      ask(q, 0, async () => {
        const [marks = 0] = await collectRows(
          client,
          countMarksFlux(client, q),
          (get) => Number(get('_value')),
          q.signal,
        )
        return marks
      }),

    async close() {
      client.close()
    },
  }
}

const countMarksFlux = (client: InfluxClient, q: Selection) => {
  const where = flux`r._measurement == "mark" and r._field == "at" and ${whereTags(q)}`
  return flux`${pointsIn(client, fluxTime(q.fromNs), fluxTime(q.toNs), where)}
  |> count()
  |> group()
  |> sum()`
}
