// A few hours of somebody's jobs, as events that bring their own time: overlapping, slow, failing, hanging.
import { toRecord } from '../../src/event/record.ts'
import { buryIn } from '../support/bury.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** Two nodes of one trace differ in what varies, so they are one group. */
export const FAULT = (ms: number) => `ConnectionResetError: reset by peer after ${ms} ms
    at Socket.read (/app/node_modules/pg/lib/connection.js:${ms}:12)
    at load (/app/import.ts:88:9)`

export function someDay(nowMs: number): object[] {
  const events: object[] = []
  let digits = 0
  const at = (agoMs: number) =>
    new Date(nowMs - agoMs).toISOString().replace('Z', `${String(++digits % 1000).padStart(3, '0')}Z`)
  const run = (process: string, meta: string | undefined, uid: string | undefined, agoMs: number, tookMs: number) =>
    events.push(
      { kind: 'start', process, meta, uid, at: at(agoMs) },
      { kind: 'end', process, meta, uid, at: at(agoMs - tookMs) },
    )

  for (let i = 0; i < 20; i++) {
    const agoMs = (55 - 2.5 * i) * MINUTE
    for (const meta of ['region eu', 'region us']) {
      run('nightly import', meta, undefined, agoMs, 60 * SECOND + i * SECOND)
      events.push({
        kind: 'metrics',
        process: 'nightly import',
        meta,
        items: { rows: 1000 + 10 * i, 'bytes read': 5e6 },
        at: at(agoMs - 30 * SECOND),
      })
    }
  }
  for (let i = 0; i < 40; i++) run('thumbnail', undefined, `job-${i}`, 50 * MINUTE - i * MINUTE, 90 * SECOND)
  events.push(
    { kind: 'start', process: 'report', at: at(40 * MINUTE) },
    { kind: 'start', process: 'report', at: at(5 * MINUTE) },
  )
  events.push({ kind: 'end', process: 'thumbnail', uid: 'lost', at: at(20 * MINUTE) })
  for (let i = 0; i < 6; i++)
    events.push({
      kind: 'exception',
      process: 'nightly import',
      meta: 'region eu',
      exception: FAULT(100 + i),
      at: at((30 - i) * MINUTE),
    })
  events.push({
    kind: 'exception',
    process: 'thumbnail',
    exception: 'TypeError: x is not a function',
    at: at(10 * MINUTE),
  })
  return events
}

/** Two events that a store is said to have refused. */
export function buryMetrics(dataDir: string, account: string): void {
  for (const sub of [0, 2]) {
    const event = { kind: 'metrics', account, process: 'buried', meta: '', items: [['rescued', sub]] } as const
    const record = toRecord({ ...event, stamp: { us: Date.now() * 1000 - 60e6, sub } })
    buryIn(dataDir, [{ destination: 'points', account, reason: 'field type conflict', record }])
  }
}
