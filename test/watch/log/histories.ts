// Random histories of one process: runs that are missed, lost, sent twice, delayed, failed, never ended, with exceptions, and
// exceptions of no run; downtimes.
import type { Downtime } from '../../../src/watch/log/episode.ts'
import type { JudgedWatch, Mark, RaisedException } from '../../../src/watch/log/judge-interface.ts'
import { HOUR, S, T0, watchOf } from './judge-kit.ts'

const HOURS = 4
export const END_US = T0 + (HOURS + 4) * HOUR

export const WATCHES: readonly JudgedWatch[] = [
  watchOf('every', { late: { every: '700s', grace: '1m' } }),
  watchOf('cron', { late: { cron: '*/10 * * * *', grace: '2m' } }),
  watchOf('long', { long: '15m' }),
  watchOf('failed', { failed: {} }),
  watchOf('failed2', { failed: { after: 2 } }),
  watchOf('raised', { failed: { exceptions: true } }),
  watchOf('raised3', { failed: { after: 3, exceptions: true } }),
  watchOf('slow', { slow: 3 }),
]

export function createRandom(seed: number) {
  let state = seed
  const next = () => {
    state = (state * 1664525 + 1013904223) >>> 0
    return state / 2 ** 32
  }
  return {
    next,
    int: (n: number) => Math.floor(next() * n),
    pick: <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]!,
  }
}
export type Random = ReturnType<typeof createRandom>

export interface History {
  /** In the order of their arrival. */
  readonly events: readonly (Mark | RaisedException)[]
  readonly downtimes: readonly Downtime[]
}

/** `isSilent`: another node is silent for a while, once or twice, and hands over in time. */
export function makeHistory(random: Random, isSilent = false): History {
  const downtimes: Downtime[] = []
  for (let us = T0 + random.int(5400) * S; us < T0 + HOURS * HOUR && downtimes.length < 3; ) {
    const toUs = us + (5 + random.int(random.pick([20, 600]))) * S
    downtimes.push({ fromUs: us, toUs })
    us = toUs + (1800 + random.int(5400)) * S
  }
  const isDown = (us: number) => downtimes.some((it) => us >= it.fromUs && us < it.toUs)
  const sent: (Mark | RaisedException)[] = []
  const everyS = random.pick([300, 600, 900])
  const hasUid = random.next() < 0.5
  const lostEnds = random.pick([0.07, 0.07, 0.6]) // killed each time, almost
  for (let s = random.int(60), n = 0; s < HOURS * 3600; s += everyS + random.int(20) - 10, n++) {
    if (random.next() < 0.15) continue // missed
    const startUs = T0 + s * S + 500_000
    const uid = hasUid ? `u${n}` : ''
    const tookUs = (random.next() < 0.1 ? 400 + random.int(5000) : 5 + random.int(200)) * S + 250_000
    const ends = random.next() < 0.2 ? 'failed' : 'end'
    const delay = random.next() < 0.2 ? random.int(random.pick([50, 7200])) * S : 0
    for (const [kind, us] of [
      ['start', startUs],
      [ends, startUs + tookUs],
    ] as const) {
      if (random.next() < (kind === 'start' ? 0.07 : lostEnds)) continue // lost
      const arrivedUs = us + (hasUid && random.next() < 0.5 ? delay : 0)
      if (isDown(arrivedUs)) continue // the caller does not retry
      const mark = { kind, process: 'job', meta: '', uid, atUs: us }
      sent.push({ ...mark, arrivedUs })
      if (random.next() < 0.05) sent.push({ ...mark, arrivedUs: arrivedUs + 333 }) // twice
    }
    for (let left = random.next() < 0.3 ? 1 + random.int(3) : 0; left > 0; left--) {
      const own = random.next() < 0.8 ? uid : ''
      const atUs = startUs + Math.floor((random.next() * 1.2 - 0.1) * tookUs)
      const arrivedUs = atUs + random.int(random.pick([1, 900_000, 3 * S])) + (random.next() < 0.5 ? delay : 0)
      if (isDown(arrivedUs)) continue
      const headline = random.pick(['A: one', 'B: two'])
      const raised = { process: 'job', meta: '', ...(own !== '' && { uid: own }), atUs, headline }
      sent.push({ ...raised, arrivedUs })
      if (random.next() < 0.15) sent.push({ ...raised, arrivedUs: arrivedUs + random.pick([333, 3600 * S]) }) // twice
    }
  }
  if (isSilent)
    for (let us = T0 + random.int(7200) * S; us < T0 + HOURS * HOUR && downtimes.length < 5; us += HOUR) {
      const toUs = us + (10 + random.int(590)) * S
      downtimes.push({ node: 2, fromUs: us, toUs, waitsUs: toUs })
    }
  return { events: sent.sort((a, b) => a.arrivedUs - b.arrivedUs), downtimes }
}
