// The alerts of one `failed` rule, by the sentences of src/watch/README.md: see naive.ts. It gets each mark and exception
// with the runs that are known then.
import { nextUnfinished } from '../../../src/watch/log/due.ts'
import type { Downtime } from '../../../src/watch/log/episode.ts'
import type { Mark, RaisedException } from '../../../src/watch/log/judge-interface.ts'
import { S } from './judge-kit.ts'
import type { Run } from './naive.ts'

export interface NaiveRule {
  readonly id: string
  readonly after: number
  readonly exceptions: boolean
  /** A failure of before counts and fires nothing. */
  readonly sinceUs: number
}

interface Failure {
  readonly kind: 'failed' | 'unfinished' | 'exception'
  readonly atUs: number
  /** '' = without one. */
  readonly uid: string
  readonly startedUs?: number | undefined
}

/** A failure of the row; its run or its exceptions may be in it already. */
type Counted = Failure & { readonly counts: boolean }

const SEEN = 64
const BELATED_US = 60 * S

const isBare = ({ kind, startedUs }: Failure): boolean => kind === 'failed' && startedUs === undefined

/** Is the exception of this failed run, of all runs that it may be of? */
function isOf(exception: Failure, run: Failure, runs: readonly Run[]): boolean {
  const { atUs, uid } = exception
  const own = { uid: run.uid, fromUs: run.startedUs ?? run.atUs, toUs: run.atUs, isOwn: true }
  const others = runs.flatMap(({ uid, startedUs: fromUs, endedUs: toUs = Number.POSITIVE_INFINITY, state }) => {
    const isRun = fromUs !== undefined && state !== 'followed'
    return isRun && !(uid === own.uid && fromUs === own.fromUs) ? [{ uid, fromUs, toUs, isOwn: false }] : []
  })
  const earlyUs = isBare(run) ? BELATED_US : 0
  const mayBe = [own, ...others].filter((it) => {
    if (uid === '') return !(it.isOwn && isBare(run)) && it.fromUs <= atUs && atUs <= it.toUs
    const fromUs = it.isOwn ? it.fromUs - earlyUs : it.fromUs
    return it.uid === uid && fromUs <= atUs && atUs <= it.toUs + BELATED_US
  })
  return mayBe.length > 0 && mayBe.reduce((a, b) => (b.fromUs > a.fromUs ? b : a)).isOwn
}

export function createNaiveFailures({ id, after, exceptions, sinceUs }: NaiveRule, downtimes: readonly Downtime[]) {
  const alerts: string[] = []
  const noted = new Set<string>()
  let seen: string[] = []
  let waiting: (Failure & { readonly restUs: number })[] = []
  let row: Counted[] = []
  let [okUs, lastFailedUs, lastExceptionUs] = [0, 0, 0]
  let firing: number | undefined
  const textOf = (us: number) => `${id} ${JSON.stringify([JSON.stringify(['failed', 'job', '']), us])}`

  function fail(failure: Failure, runs: readonly Run[]): void {
    const { kind, atUs } = failure
    const isException = kind === 'exception'
    if (isException) lastExceptionUs = Math.max(lastExceptionUs, atUs)
    const isOver = isException
      ? runs.some(({ state, startedUs }) => state === 'completed' && startedUs! > atUs)
      : atUs < okUs
    if (isOver) {
      if (firing === undefined && after === 1 && atUs > sinceUs) alerts.push(`${textOf(atUs)} over`)
      return
    }
    if (isException && row.some((it) => it.kind !== 'exception' && isOf(failure, it, runs))) return
    const counts = isException || !row.some((it) => it.kind === 'exception' && isOf(it, failure, runs))
    if (!isException) lastFailedUs = Math.max(lastFailedUs, atUs)
    row.push({ ...failure, counts })
    if (!counts || firing !== undefined || atUs <= sinceUs || row.filter((it) => it.counts).length < after) return
    firing = atUs
    alerts.push(textOf(atUs))
  }

  function endRow(): void {
    row = []
    if (firing !== undefined) alerts.push(`${textOf(firing)} ends`)
    firing = undefined
  }

  /** A completed run, or, without `startedUs`, an end that does not say failed. */
  function succeed(endedUs: number, startedUs: number | undefined): void {
    const isLater = endedUs > lastFailedUs
    if (startedUs === undefined) {
      if (!isLater || row.length === 0 || !row.every(isBare)) return
      okUs = Math.max(okUs, endedUs)
      endRow()
      return
    }
    okUs = Math.max(okUs, endedUs)
    if (isLater && (!exceptions || startedUs > lastExceptionUs)) endRow()
  }

  /** One that came late waits a minute for the rest of its backlog. */
  function failOrWait(failure: Failure, arrivedUs: number, runs: readonly Run[]): void {
    if (arrivedUs - failure.atUs > 60 * S) waiting.push({ ...failure, restUs: arrivedUs + 60 * S })
    else fail(failure, runs)
  }

  return {
    alerts,
    wait(us: number, runs: readonly Run[]): void {
      const due = waiting.filter(({ restUs }) => restUs < us)
      waiting = waiting.filter(({ restUs }) => restUs >= us)
      due.sort((a, b) => a.restUs - b.restUs || a.atUs - b.atUs)
      for (const it of due) {
        const known = runs.find(({ uid, endedUs }) => uid === it.uid && endedUs === it.atUs)
        fail(it.kind === 'failed' ? { ...it, startedUs: known?.startedUs } : it, runs)
      }
    },
    noteException({ uid = '', atUs, arrivedUs, headline }: RaisedException, runs: readonly Run[]): void {
      const name = JSON.stringify([uid, atUs, headline])
      if (!exceptions || seen.includes(name)) return
      seen = [...seen, name].slice(-SEEN)
      failOrWait({ kind: 'exception', atUs, uid }, arrivedUs, runs)
    },
    /** The last of these marks is a start of a uid whose former start no end has followed. */
    noteUnfinished(marks: readonly Mark[], runs: readonly Run[]): void {
      const mark = marks.at(-1)!
      const own = marks.filter(({ uid }) => uid === mark.uid)
      const isRepeated = own.slice(0, -1).some(({ kind, atUs }) => kind === mark.kind && atUs === mark.atUs)
      if (isRepeated) return
      if (mark.kind !== 'start') {
        waiting = waiting.filter(({ kind, uid }) => kind !== 'unfinished' || uid !== mark.uid)
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
      waiting.push({ kind: 'unfinished', atUs: mark.atUs, startedUs: former, uid: mark.uid, restUs })
    },
    note(runs: readonly Run[], mark: Mark): void {
      for (const { uid, startedUs, endedUs, state } of runs) {
        if (endedUs === undefined || state === 'open') continue
        // a failed end counts once, with or without its start
        const name = `${uid} ${endedUs} ${state === 'failed' ? '' : startedUs}`
        if (noted.has(name)) continue
        noted.add(name)
        if (state === 'failed') failOrWait({ kind: 'failed', atUs: endedUs, uid, startedUs }, mark.arrivedUs, runs)
        else succeed(endedUs, state === 'completed' ? startedUs : undefined)
      }
    },
  }
}

/** The last three are each a minute or more after the one before. */
const isThird = (times: readonly number[]): boolean =>
  times.length >= 3 && [times.length - 1, times.length - 2].every((i) => times[i]! - times[i - 1]! >= 60 * S)
