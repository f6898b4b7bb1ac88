// A made-up world: jobs that keep a schedule, incidents that are put into it on purpose, and outages of the store, of Stint and of the receiver.
// The real evaluator, outbox and store run in it; only time, the marks' store and the receiver are simulated. By construction every incident must be
// notified once when it begins and once when it ends, and nothing else may be.
import { DeliveryError } from '../../src/notify/delivery/delivery-error.ts'
import { createOutbox } from '../../src/notify/delivery/outbox.ts'
import { createEvaluator } from '../../src/watch/evaluate/evaluator.ts'
import { createLiveness } from '../../src/watch/evaluate/liveness.ts'
import type { KnownMark, WatchSource } from '../../src/watch/evaluate/watch-source.ts'
import type { WatchStore } from '../../src/watch/storage/create-watch-store.ts'
import { ACCOUNT, channelOf, silent, watchOf } from '../watch/watch-cast.ts'

const MINUTE = 60e6
const HOUR = 60 * MINUTE

export interface WorldOptions {
  readonly days: number
  readonly jobs: number
  readonly stepUs: number
  readonly seed: number
  readonly openStore: () => WatchStore
}

interface Window {
  readonly fromUs: number
  readonly toUs: number
}
interface Arrival extends KnownMark {
  /** When it reached Stint, and when it was stored. */
  readonly spooledUs: number
  arrivedUs: number
}
export interface Incident {
  readonly process: string
  readonly condition: 'late' | 'long' | 'failed'
  readonly atUs: number
}

export interface WorldReport {
  readonly incidents: number
  readonly marks: number
  readonly rounds: number
  /** Notified, but there was no such incident; `process condition`. */
  readonly falseAlerts: readonly string[]
  readonly missed: readonly string[]
  /** Incidents that were resolved as well. */
  readonly resolved: number
  /** Time from the moment the rule is broken to the delivered notification, of incidents without an outage around (s). */
  readonly delaysS: readonly number[]
  /** CPU time of all rounds (s). */
  readonly cpuS: number
}

/** Where a mark of that time belongs. */
function placeOf(list: readonly Arrival[], atUs: number): number {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (list[middle]!.atUs < atUs) low = middle + 1
    else high = middle
  }
  return low
}

/** Numbers in [0, 1) that are the same for a seed. */
function createChance(seed: number) {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

export async function runWorld({ days, jobs, stepUs, seed, openStore }: WorldOptions): Promise<WorldReport> {
  const chance = createChance(seed)
  const beginUs = Date.UTC(2026, 2, 20) * 1000
  const endUs = beginUs + days * 24 * HOUR
  const windows = (perDay: number, longestUs: number): Window[] =>
    Array.from({ length: Math.max(1, Math.round(days * perDay)) }, () => {
      const fromUs = beginUs + (0.05 + 0.9 * chance()) * (endUs - beginUs)
      return { fromUs, toUs: fromUs + chance() * longestUs }
    }).sort((a, b) => a.fromUs - b.fromUs)
  const isIn = (list: readonly Window[], us: number) => list.find((it) => us >= it.fromUs && us < it.toUs)
  const isNear = (list: readonly Window[], us: number, byUs: number) =>
    list.some((it) => us >= it.fromUs - byUs && us < it.toUs + byUs)

  const stintDown = windows(0.5, 3 * HOUR)
  const storeDown = windows(0.7, 2 * HOUR)
  const receiverDown = windows(0.7, 2 * HOUR)

  const marks: Arrival[] = []
  const incidents: Incident[] = []
  const watches = Array.from({ length: jobs }, (_, i) => {
    const process = `job ${i}`
    const everyUs = [10, 15, 30, 60, 180][i % 5]! * MINUTE
    const graceUs = Math.min(everyUs / 4, 10 * MINUTE)
    const usualUs = everyUs * (0.05 + 0.2 * chance())
    const isCron = i % 2 === 0
    const retries = i % 3 === 0
    const clear = 2 * everyUs + graceUs
    let last = beginUs
    let isSpare = true
    for (let due = beginUs + everyUs; due < endUs; due += everyUs) {
      const calm = due < endUs - 4 * HOUR && !isNear(stintDown, due, clear) && due - last > 6 * everyUs && isSpare
      const dice = calm ? chance() : 1
      isSpare = true
      const record = (condition: Incident['condition'], atUs: number) => {
        incidents.push({ process, condition, atUs })
        last = due
      }
      if (dice < 0.01) {
        record('late', due + graceUs)
        continue // no start at all
      }
      const startedUs = Math.round(due + (chance() - 0.3) * graceUs * 0.5)
      const isLong = dice < 0.02
      const isFailed = dice >= 0.02 && dice < 0.03
      const tookUs = isLong ? Math.round(everyUs * 0.9) : Math.round(usualUs * (0.7 + 0.6 * chance()))
      if (isLong) record('long', startedUs + everyUs * 0.6)
      if (isFailed) record('failed', startedUs + tookUs)
      const uid = retries ? `r${due}` : ''
      for (const [mark, atUs] of [
        ['start', startedUs],
        [isFailed ? 'failed' : 'end', startedUs + tookUs],
      ] as const) {
        const down = isIn(stintDown, atUs)
        if (down !== undefined && !retries) continue // lost: nobody sends it again
        const spooledUs = down === undefined ? atUs : down.toUs + 20e6 * chance()
        marks.push({ process, meta: '', mark, uid, atUs, spooledUs, arrivedUs: spooledUs })
      }
    }
    const minutes = everyUs / MINUTE
    const cron = minutes < 60 ? `*/${minutes} * * * *` : `0 */${minutes / 60} * * *`
    const grace = `${Math.round(graceUs / 1e6)}s`
    return watchOf(
      `wat_${i}`,
      {
        name: process,
        process,
        channels: ['cha_1'],
        late: isCron ? { cron, tz: 'UTC', grace } : { every: `${minutes}m`, grace },
        long: `${Math.round((everyUs * 0.6) / 1e6)}s`,
        failed: { after: 1, exceptions: false },
      },
      { sinceUs: beginUs, createdUs: beginUs },
    )
  })
  for (const mark of marks) {
    const away = isIn(storeDown, mark.arrivedUs) // it waits in the spool
    if (away !== undefined) mark.arrivedUs = away.toUs + 5e6
    else mark.arrivedUs += 1e6 * chance()
  }

  let now = beginUs
  const bySpooling = marks.toSorted((a, b) => a.spooledUs - b.spooledUs)
  let next = 0
  /** In the spool, not yet stored. */
  const waiting = new Set<Arrival>()
  /** Sorted by own time. */
  const stored: Arrival[] = []
  const advance = (accept: (mark: Arrival) => void) => {
    while (next < bySpooling.length && bySpooling[next]!.spooledUs <= now) {
      accept(bySpooling[next]!)
      waiting.add(bySpooling[next++]!)
    }
    for (const mark of waiting) {
      if (mark.arrivedUs > now) continue
      waiting.delete(mark)
      stored.splice(placeOf(stored, mark.atUs), 0, mark)
    }
  }
  const source: WatchSource = {
    async findMarks({ fromUs, toUs, processes, perSeries = Number.POSITIVE_INFINITY, maxRows }) {
      if (isIn(storeDown, now)) throw new Error('the store is away')
      const names = processes && new Set(processes)
      const counts = new Map<string, number>()
      const isWanted = ({ process }: Arrival) => {
        if (names?.has(process) === false) return false
        counts.set(process, (counts.get(process) ?? 0) + 1)
        return counts.get(process)! <= perSeries
      }
      const within = stored.slice(placeOf(stored, fromUs), placeOf(stored, toUs))
      return within.reverse().filter(isWanted).slice(0, maxRows)
    },
    findNewestStarts: async () => [],
    findExceptions: async () => [],
    aggregateMetrics: async () => [],
  }

  const store = openStore()
  await store.addChannel(channelOf('cha_1'), 10)
  for (const watch of watches) await store.addWatch(watch, jobs)
  const received: {
    process: string
    condition: string
    type: string
    atUs: number
    sinceUs: number
    isOver: boolean
  }[] = []
  const create = () => {
    const oldest = () => waiting.values().next().value?.spooledUs
    const liveness = createLiveness({
      store,
      nowUs: () => now,
      monotonicUs: () => now,
      accepts: () => true,
      gapUs: 2 * stepUs,
      log: silent,
    })
    const outbox = createOutbox({
      store,
      nowUs: () => now,
      log: silent,
      meter: { delivered() {}, failed() {}, seconds() {} },
      async deliver({ bodies }) {
        if (isIn(receiverDown, now)) throw new DeliveryError('away')
        for (const { type, data } of bodies)
          received.push({
            process: data.process,
            condition: data.condition ?? 'none',
            type,
            atUs: now,
            sinceUs: Date.parse(data.since) * 1000,
            isOver: data.resolved_at !== null,
          })
        return 'ok'
      },
    })
    const evaluator = createEvaluator({
      store,
      source,
      liveness,
      nowUs: () => now,
      monotonicUs: () => now,
      oldestUnstoredUs: () => ({ points: oldest(), exceptions: undefined }),
      maxRunUs: 24 * HOUR,
      publicUrl: () => 'http://stint',
      log: silent,
    })
    return { liveness, outbox, evaluator }
  }

  let running: ReturnType<typeof create> | undefined
  let rounds = 0
  const cpu = process.cpuUsage()
  for (; now < endUs; now += stepUs) {
    advance(({ process, atUs, spooledUs }) => {
      running?.evaluator.hint({ account: ACCOUNT, process, kind: 'mark' })
      if (spooledUs - atUs > MINUTE)
        running?.evaluator.expectDelayed({ account: ACCOUNT, process, atUs, isException: false })
    })
    if (isIn(stintDown, now)) {
      running?.liveness.blind(now)
      await running?.liveness.stop()
      running = undefined
      continue
    }
    if (running === undefined) {
      running = create()
      await running.liveness.start()
    }
    await running.liveness.step()
    await running.evaluator.step()
    await running.outbox.step()
    rounds++
  }
  await running?.liveness.stop()
  await store.close()
  const { user, system } = process.cpuUsage(cpu)

  const fired = received.filter(({ type }) => type === 'alert.firing')
  const used = new Set<(typeof fired)[number]>()
  const missed: string[] = []
  const delaysS: number[] = []
  let resolved = 0
  for (const { process, condition, atUs } of incidents) {
    const alert = fired.find((it) => {
      const isSame = it.process === process && it.condition === condition && !used.has(it)
      return isSame && Math.abs(it.sinceUs - atUs) < 1e6 + (condition === 'late' ? 20 * MINUTE : 0)
    })
    if (alert === undefined) {
      missed.push(`${process} ${condition} ${new Date(atUs / 1000).toISOString()}`)
      continue
    }
    used.add(alert)
    if (received.some((it) => it.isOver && it.process === process && it.sinceUs === alert.sinceUs)) resolved++
    const calm = [stintDown, storeDown, receiverDown].every((list) => !isNear(list, alert.sinceUs, 10 * MINUTE))
    if (calm) delaysS.push((alert.atUs - alert.sinceUs) / 1e6)
  }
  const falseAlerts = fired
    .filter((it) => !used.has(it))
    .map(({ process, condition, sinceUs }) => `${process} ${condition} ${new Date(sinceUs / 1000).toISOString()}`)
  return {
    incidents: incidents.length,
    marks: marks.length,
    rounds,
    falseAlerts,
    missed,
    resolved,
    delaysS,
    cpuS: (user + system) / 1e6,
  }
}
