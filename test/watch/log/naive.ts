// The alerts of a history, found again from all marks that arrived so far, paired as the stores pair: with each event, and
// every quarter second for what is due. It shares only due.ts with the judge.
import { type LateDue, nextLate, nextLong } from '../../../src/watch/log/due.ts'
import type { Mark } from '../../../src/watch/log/judge-interface.ts'
import { END_US, type History, WATCHES } from './histories.ts'
import { HOUR, isMark, S, T0 } from './judge-kit.ts'
import { createNaiveFailures } from './naive-failures.ts'

export interface Run {
  readonly uid: string
  readonly startedUs?: number
  readonly endedUs?: number
  readonly state: 'open' | 'followed' | 'completed' | 'failed' | 'orphan'
}

const RANK = { start: 0, end: 1, failed: 1 }

/** The pairing rule, by its sentence: an end belongs to the mark immediately before it if that is a start. */
function pair(marks: readonly Mark[], maxRunUs: number): Run[] {
  const groups = Map.groupBy(marks, ({ uid }) => uid)
  return [...groups].flatMap(([uid, group]) => {
    const sorted = group.toSorted((a, b) => a.atUs - b.atUs || RANK[a.kind] - RANK[b.kind])
    // a mark of the same uid and time is the same event: the one that arrived first stays
    const unique = sorted.filter(
      (it, i) => it.atUs !== sorted[i - 1]?.atUs || RANK[it.kind] !== RANK[sorted[i - 1]!.kind],
    )
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

export function judgeNaively({ events, downtimes }: History, maxRunUs: number) {
  const late: string[] = []
  const long = new Set<string>()
  const failed = WATCHES.flatMap(({ id, rules, sinceUs }) =>
    rules.failed === undefined
      ? []
      : createNaiveFailures({ id, ...rules.failed, sinceUs: sinceUs('failed') }, downtimes),
  )
  const firing = new Map<string, { fromUs: number; identity: string }>()
  const life: { atUs: number; restUs: number }[] = []
  const rests = new Map<number, number>()
  /** By watch: they only change with a mark. */
  const dues = new Map<string, LateDue>()
  const marks: Mark[] = []
  let next = 0
  let runs: Run[] = []
  let open: { name: string; atUs: number }[] = []
  for (let us = T0; us <= END_US; us += S / 4) {
    for (; next < events.length && events[next]!.arrivedUs < us; next++) {
      const mark = events[next]!
      for (const one of failed) one.wait(mark.arrivedUs, runs)
      if (!isMark(mark)) {
        for (const one of failed) one.noteException(mark, runs)
        continue
      }
      marks.push(mark)
      runs = pair(marks, maxRunUs)
      if (!rests.has(mark.atUs)) rests.set(mark.atUs, restOf(mark))
      const isOwnEnd = runs.some(
        ({ uid, startedUs, endedUs }) => uid === mark.uid && endedUs === mark.atUs && startedUs,
      )
      if (mark.kind === 'start' || !isOwnEnd) life.push({ atUs: mark.atUs, restUs: restOf(mark) })
      for (const one of failed) {
        one.noteUnfinished(marks, runs)
        one.note(runs, mark)
      }
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
  for (const one of failed) one.wait(Number.POSITIVE_INFINITY, runs)
  return { late, long: [...long], failed: failed.map(({ alerts }) => alerts) }
}
