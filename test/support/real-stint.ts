// A real Stint in the test's process for the tests of its clients: a client works when Stint says, asked over HTTP, that
// the run is there with its state, exceptions, output and metrics. Only the stores are replaced, by one in memory.
import type { Destination, Event } from '../../src/event/event.ts'
import type { ExceptionText } from '../../src/wire/exceptions.ts'
import type { MetricPoint } from '../../src/wire/metrics.ts'
import type { OutputText } from '../../src/wire/outputs.ts'
import type { Timing, TimingState } from '../../src/wire/timings.ts'
import { type AppOptions, startApp } from './app.ts'
import { createMemoryStore } from './memory-sink.ts'
import { createMemorySource } from './memory-source.ts'
import { createRunningClock } from './step-clock.ts'
import { until } from './until.ts'

/** One run as Stint shows it, with what was sent under its uid. */
export interface SeenRun {
  readonly meta: string | null
  readonly uid: string | null
  readonly state: TimingState
  readonly startedAt: string | null
  readonly endedAt: string | null
  /** The oldest first. */
  readonly exceptions: readonly string[]
  readonly outputs: readonly string[]
  readonly metrics: Readonly<Record<string, number>>
}

export type RealStint = Awaited<ReturnType<typeof startRealStint>>

const DESTINATIONS = ['points', 'exceptions'] as const satisfies readonly Destination[]

export async function startRealStint(options: AppOptions = {}) {
  const store = createMemoryStore()
  const app = await startApp({
    clock: createRunningClock(),
    openStores: async () => ({
      sinks: { points: store.sink(), exceptions: store.sink() },
      ...createMemorySource(store.events),
      close: async () => {},
    }),
    ...options,
  })

  async function settle(): Promise<void> {
    for (const destination of DESTINATIONS) {
      const spool = app.spools[destination]
      const mark = spool.mark()
      await until('what was accepted is stored', () => spool.hasDelivered(mark))
    }
  }

  /** The oldest first. All that was accepted before is stored when it is asked. */
  async function ask<Row>(what: string, process: string, rows = what): Promise<Row[]> {
    await settle()
    const question = new URLSearchParams({ process, from: '-30d', limit: '1000' })
    const { status, json, text } = await app.fetch(`/api/${what}?${question}`, { key: app.keys.owner })
    if (status !== 200) throw new Error(`/api/${what}: ${status} ${text}`)
    return json[rows].toReversed()
  }
  const exceptionsOf = (process: string) => ask<ExceptionText>('exceptions', process)
  const metricsOf = (process: string) => ask<MetricPoint>('metrics', process, 'points')
  const valuesOf = (points: readonly MetricPoint[]): Readonly<Record<string, number>> =>
    Object.fromEntries(points.map(({ name, value }) => [name, value]))

  return {
    app,
    url: app.url,
    /** A key that may write. */
    key: app.keys.writer,
    /** All that is stored: one event once, however often it was sent. */
    async events(): Promise<Event[]> {
      await settle()
      return store.events()
    },
    /** Also those without a run, the oldest first. */
    exceptions: async (process: string) => (await exceptionsOf(process)).map(({ exception }) => exception),
    /** The newest value of each name, also of those without a run. */
    metrics: async (process: string) => valuesOf(await metricsOf(process)),
    /** The oldest first. */
    async runs(process: string): Promise<SeenRun[]> {
      const timings = await ask<Timing>('timings', process)
      const exceptions = await exceptionsOf(process)
      const outputs = await ask<OutputText>('outputs', process)
      const points = await metricsOf(process)
      return timings.map(({ meta, uid, state, started_at, ended_at }) => {
        const ofRun = (row: { readonly meta: string | null; readonly uid?: string | null }) =>
          uid !== null && row.uid === uid && row.meta === meta
        return {
          ...{ meta, uid, state, startedAt: started_at, endedAt: ended_at },
          exceptions: exceptions.filter(ofRun).map(({ exception }) => exception),
          outputs: outputs.filter(ofRun).map(({ output }) => output),
          metrics: valuesOf(points.filter(ofRun)),
        }
      })
    },
    stop: app.stop,
    [Symbol.asyncDispose]: app.stop,
  }
}
