// The alerts of a history, found again from all marks that arrived so far, paired as the stores pair: with each mark, and
// every quarter second for what is due. It shares only due.ts with the judge.
import { type LateDue, nextLate, nextLong, nextUnfinished } from '../../../src/watch/log/due.ts'
import type { Downtime } from '../../../src/watch/log/episode.ts'
import type { Mark } from '../../../src/watch/log/judge-interface.ts'
import { END_US, type History, WATCHES } from './histories.ts'
import { HOUR, S, T0 } from './judge-kit.ts'

interface Run {
  readonly uid: string
  readonly startedUs?: number
  readonly endedUs?: number
  readonly state: 'open' | 'followed' | 'completed' | 'failed' | 'orphan'
}

const RANK = { start: 0, end: 1, failed: 2 }

/** The pairing rule, by its sentence: an end belongs to the mark immediately before it if that is a start. */
function pair(marks: readonly Mark[], maxRunUs: number): Run[] {
  const groups = Map.groupBy(marks, ({ uid }) => uid)
  return [...groups].flatMap(([uid, group]) => {
    const sorted = group.toSorted((a, b) => a.atUs - b.atUs || RANK[a.kind] - RANK[b.kind])
    const unique = sorted.filter((it, i) => it.atUs !== sorted[i - 1]?.atUs || it.kind !== sorted[i - 1]?.kind)
    return unique.flatMap((mark, i): Run[] => {
      const next = unique[i + 1]
      if (mark.kind === 'start') {
        if (next === undefined) return [{ uid, startedUs: mark.atUs, state: 'open' }]
        if (next.kind === 'start') return [{ uid, startedUs: mark.atUs, state: 'followed' }]
        return next.atUs - mark.atUs <= maxRunUs ? [] : [{ uid, startedUs: mark.atUs, state: 'followed' }]
      }
      const before = unique[i - 1]
      const endedUs = mark.atUs
      if (before?.kind !== 'start' || endedUs - before.atUs > maxRunUs)
        return [{ uid, endedUs, state: mark.kind === 'failed' ? 'failed' : 'orphan' }]
      return [{ uid, startedUs: before.atUs, endedUs, state: mark.kind === 'failed' ? 'failed' : 'completed' }]
    })
  })
}

const restOf = ({ atUs, arrivedUs }: Mark): number =>
  arrivedUs - atUs > 60 * S ? arrivedUs + 60 * S : arrivedUs - atUs > S ? arrivedUs : 0

export function judgeNaively({ marks, downtimes }: History, maxRunUs: number) {
  const late: string[] = []
  const long = new Set<string>()
  const failed = createNaiveFailures(downtimes)
  const firing = new Map<string, { fromUs: number; identity: string }>()
  const life: { atUs: number; restUs: number }[] = []
  const rests = new Map<number, number>()
  /** By watch: they only change with a mark. */
  const dues = new Map<string, LateDue>()
  let next = 0
  let runs: Run[] = []
  let open: { name: string; atUs: number }[] = []
  for (let us = T0; us <= END_US; us += S / 4) {
    for (; next < marks.length && marks[next]!.arrivedUs < us; next++) {
      const mark = marks[next]!
      failed.wait(mark.arrivedUs)
      runs = pair(marks.slice(0, next + 1), maxRunUs)
      if (!rests.has(mark.atUs)) rests.set(mark.atUs, restOf(mark))
      const isOwnEnd = runs.some(
        ({ uid, startedUs, endedUs }) => uid === mark.uid && endedUs === mark.atUs && startedUs,
      )
      if (mark.kind === 'start' || !isOwnEnd) life.push({ atUs: mark.atUs, restUs: restOf(mark) })
      failed.noteUnfinished(marks.slice(0, next + 1), runs)
      failed.note(runs, mark)
      dues.clear()
      open = runs.flatMap(({ uid, startedUs, state }) => {
        if (state !== 'open' || startedUs === undefined) return []
        const due = nextLong({ startedUs, restUs: rests.get(startedUs) ?? 0 }, HOUR / 4, downtimes)
        return [{ name: `${uid} ${startedUs}`, atUs: due.atUs }]
      })
    }
    const newest = life.reduce((a, b) => (b.atUs > a.atUs ? b : a), { atUs: 0, restUs: 0 })
    for (const { id, rules, sinceUs } of WATCHES) {
      if (rules.late === undefined) continue
      const alert = firing.get(id)
      if (alert !== undefined) {
        if (newest.atUs < alert.fromUs) continue
        late.push(`${id} ${alert.identity} ends`)
        firing.delete(id)
      }
      const start = { wallUs: newest.atUs, restUs: newest.restUs }
      const due = dues.get(id) ?? nextLate(rules.late, start, sinceUs('late'), downtimes)!
      dues.set(id, due)
      if (due.atUs >= us) continue
      const identity = JSON.stringify([JSON.stringify(['late', 'job']), due.dueUs])
      late.push(`${id} ${identity}`)
      firing.set(id, { fromUs: due.fromUs, identity })
    }
    for (const { name, atUs } of open) if (atUs < us) long.add(name)
  }
  failed.wait(Number.POSITIVE_INFINITY)
  return { late, long: [...long], failed: failed.alerts }
}

interface Waiting {
  readonly atUs: number
  readonly restUs: number
  readonly isBare: boolean
  /** Never finished: an end of its uid takes it back. */
  readonly uid?: string
}

function createNaiveFailures(downtimes: readonly Downtime[]) {
  const alerts: string[] = []
  const seen = new Set<string>()
  let waiting: Waiting[] = []
  let [okUs, lastFailedUs] = [0, 0]
  let isBare = true
  let firing: number | undefined
  const identityOf = (us: number) => `failed ${JSON.stringify([JSON.stringify(['failed', 'job', '']), us])}`
  function fail(atUs: number, isBareRun: boolean): void {
    if (atUs >= okUs) {
      lastFailedUs = Math.max(lastFailedUs, atUs)
      isBare = isBareRun && (firing === undefined || isBare)
    }
    if (firing !== undefined) return
    if (atUs < okUs) alerts.push(`${identityOf(atUs)} over`)
    else {
      firing = atUs
      alerts.push(identityOf(atUs))
    }
  }
  function succeed(atUs: number): void {
    okUs = Math.max(okUs, atUs)
    if (firing === undefined || atUs <= lastFailedUs) return
    alerts.push(`${identityOf(firing)} ends`)
    firing = undefined
  }
  return {
    alerts,
    wait(us: number): void {
      const due = waiting.filter(({ restUs }) => restUs < us)
      waiting = waiting.filter(({ restUs }) => restUs >= us)
      due.sort((a, b) => a.restUs - b.restUs || a.atUs - b.atUs)
      for (const it of due) fail(it.atUs, it.isBare)
    },
    /** By its sentence: the last of these marks is a start of a uid whose former start no end has followed. */
    noteUnfinished(marks: readonly Mark[], runs: readonly Run[]): void {
      const mark = marks.at(-1)!
      const own = marks.filter(({ uid }) => uid === mark.uid)
      const isRepeated = own.slice(0, -1).some(({ kind, atUs }) => kind === mark.kind && atUs === mark.atUs)
      if (isRepeated) return
      if (mark.kind !== 'start') {
        waiting = waiting.filter(({ uid }) => uid !== mark.uid)
        return
      }
      const starts = own.slice(own.findLastIndex(({ kind }) => kind !== 'start') + 1)
      const times = [...new Set(starts.map(({ atUs }) => atUs))]
      const [first, former] = [times[0]!, times.at(-2)]
      if (former === undefined || mark.atUs - former < 60 * S) return
      const settled = runs.filter(({ startedUs, endedUs }) => startedUs !== undefined && endedUs !== undefined)
      const lengths = settled.sort((a, b) => a.endedUs! - b.endedUs!).map((it) => it.endedUs! - it.startedUs!)
      const longest = Math.max(...lengths.slice(-20))
      if (lengths.length >= 5 ? mark.atUs - first <= 2 * longest : !isThird(times)) return
      const rest = { startedUs: former, followedUs: mark.atUs, restUs: mark.arrivedUs + 60 * S }
      const restUs = nextUnfinished(rest, downtimes).atUs
      waiting.push({ atUs: mark.atUs, restUs, isBare: false, uid: mark.uid })
    },
    note(runs: readonly Run[], mark: Mark): void {
      for (const { uid, startedUs, endedUs, state } of runs) {
        if (endedUs === undefined || state === 'open') continue
        // a failed end counts once, with or without its start
        const name = `${uid} ${endedUs} ${state === 'failed' ? '' : startedUs}`
        if (seen.has(name)) continue
        seen.add(name)
        if (state === 'failed') {
          const wasLate = mark.arrivedUs - endedUs > 60 * S
          if (wasLate) waiting.push({ atUs: endedUs, restUs: mark.arrivedUs + 60 * S, isBare: startedUs === undefined })
          else fail(endedUs, startedUs === undefined)
        } else if (state === 'completed') succeed(endedUs)
        else if (firing !== undefined && isBare && endedUs > lastFailedUs) succeed(endedUs)
      }
    },
  }
}

/** The last three are each a minute or more after the one before. */
const isThird = (times: readonly number[]): boolean =>
  times.length >= 3 && [times.length - 1, times.length - 2].every((i) => times[i]! - times[i - 1]! >= 60 * S)
