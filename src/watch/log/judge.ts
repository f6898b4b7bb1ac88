// The watches as a machine over the log: see judge-interface.ts. A due time only moves later by itself, so the heap
// holds one place per series with open runs, per subject of `late` and per metric with `for`: never one per run.
import { findMetric, findTrack, keepTrack, loadTrack, setWatches } from './accounts.ts'
import { applyMark, seedMarks } from './apply-mark.ts'
import { createDesk } from './desk.ts'
import type { Downtime } from './episode.ts'
import { createFiring } from './firing.ts'
import { asksGroup, noteException } from './judge-failed.ts'
import { type JudgeOptions, MAX_CHANGES, type StateRow, type WatchJudge } from './judge-interface.ts'
import { judgeLate, planUnread } from './judge-late.ts'
import { judgeMetric, notePoint } from './judge-metric.ts'
import { judgeRuns } from './judge-runs.ts'
import { fromText } from './series-text.ts'
import { type Account, createAccount } from './subjects.ts'
import { sweep } from './sweep.ts'

const SWEEP_EVERY_US = 3600e6
/** Clocks agree to this. */
export const LEAST_LEAD_US = 1e6
/** Downtimes of before hide nothing that is still judged. */
const DOWNTIMES_KEPT = 1000
/** Of one account alone. */
const DOWNTIMES_OF_ACCOUNT = 100

export function createJudge({ maxRunUs, emit, isKnown }: JudgeOptions): WatchJudge {
  const accounts = new Map<string, Account>()
  const firing = createFiring({ emit, isKnown, isSuspended })
  const desk = createDesk(maxRunUs, firing)
  /** What was due before is judged. */
  let judgedUs = 0
  let sweepUs: number | undefined
  let downtimes: readonly Downtime[] = []
  const ofAccount = new Map<string, readonly Downtime[]>()

  function isSuspended(name: string): boolean {
    return ofAccount.get(name)?.some((it) => it.isSuspended) === true
  }

  function setDowntimes(account: Account): void {
    const own = ofAccount.get(account.name)
    account.downtimes = own === undefined ? downtimes : [...downtimes, ...own]
    const held = downtimes.filter(({ node }) => node !== undefined)
    account.heldUntilUs = Math.max(0, ...held.map(({ toUs, waitsUs = toUs }) => Math.min(toUs, waitsUs)))
  }

  function accountOf(name: string): Account {
    const known = accounts.get(name)
    if (known !== undefined) return known
    const account = createAccount(name)
    setDowntimes(account)
    accounts.set(name, account)
    return account
  }

  function judgeNext(us: number): void {
    const entry = desk.heap.pop()!
    switch (entry.kind) {
      case 'runs':
        if (entry.track.plannedUs === us) judgeRuns(desk, entry.track, us)
        return
      case 'late':
        judgeLate(desk, entry.subject, us)
        return
      case 'for':
        judgeMetric(desk, entry.subject, us)
        return
      default:
        entry satisfies never
    }
  }

  function advance(us: number): boolean {
    for (let nextUs = desk.heap.peekUs(); nextUs !== undefined && nextUs < us; nextUs = desk.heap.peekUs()) {
      if (firing.changes() >= MAX_CHANGES) return false
      judgedUs = Math.max(judgedUs, nextUs)
      judgeNext(nextUs)
    }
    judgedUs = Math.max(judgedUs, us)
    sweepUs ??= judgedUs + SWEEP_EVERY_US
    if (judgedUs >= sweepUs) {
      sweepUs = judgedUs + SWEEP_EVERY_US
      for (const account of accounts.values()) sweep(desk, account, judgedUs)
    }
    return true
  }

  return {
    advance,
    judgedUs: () => judgedUs,
    nextUs: desk.heap.peekUs,
    setLead(us): void {
      desk.leadUs = us > LEAST_LEAD_US ? us : 0
    },
    applyMark(name, mark): void {
      const account = accounts.get(name)
      if (account !== undefined) applyMark(desk, account, mark)
    },
    applyException(name, exception): void {
      const account = accounts.get(name)
      if (account === undefined) return
      const track = findTrack(account, exception.process, exception.meta)
      if (track.watches.every(({ rules }) => rules.failed === undefined) || !keepTrack(account, track)) return
      noteException(desk, track, { ...exception, atUs: Math.min(exception.atUs, exception.arrivedUs) })
    },
    applyPoint(name, { process, meta, items, atUs, arrivedUs, id }): void {
      const account = accounts.get(name)
      if (account === undefined) return
      for (const watch of findTrack(account, process, meta).watches) {
        const rule = watch.rules.metric
        if (rule === undefined) continue
        for (const [item, value] of items) {
          if (item !== rule.name) continue
          const subject = findMetric(account, watch, process)
          if (subject !== undefined)
            notePoint(desk, subject, rule, { value, atUs: Math.min(atUs, arrivedUs), arrivedUs, id })
        }
      }
    },
    asksGroup(name, process, meta): boolean {
      const account = accounts.get(name)
      return account !== undefined && asksGroup(desk, findTrack(account, process, meta))
    },
    isWatched: (name) => accounts.has(name),
    setWatches(name, set, startUs): void {
      judgedUs = Math.max(judgedUs, startUs ?? 0)
      if (set.watches.length === 0 && !accounts.has(name)) return
      setWatches(desk, accountOf(name), set, judgedUs, startUs)
    },
    removeAccount(name): void {
      const account = accounts.get(name)
      if (account === undefined) return
      for (const { id } of account.watches) firing.set(id, [])
      setWatches(desk, account, { watches: [], firing: [], byHand: [] }, judgedUs, undefined)
      desk.forget(account)
      accounts.delete(name)
      ofAccount.delete(name)
    },
    addDowntime(downtime): void {
      const { account: name } = downtime
      if (name === undefined) {
        downtimes = withDowntime(downtimes, downtime).slice(-DOWNTIMES_KEPT)
        for (const account of accounts.values()) setDowntimes(account)
        return
      }
      ofAccount.set(name, withDowntime(ofAccount.get(name) ?? [], downtime).slice(-DOWNTIMES_OF_ACCOUNT))
      const account = accounts.get(name)
      if (account !== undefined) setDowntimes(account)
    },
    setUnread(name, watches, sinceUs = 0): void {
      const account = accounts.get(name)
      if (account === undefined) return
      account.unread = watches && { watches, sinceUs }
      for (const subject of account.late.values()) planUnread(desk, subject)
    },
    load({ account: name, name: row, state }): void {
      if (state === null) return
      const account = accountOf(name)
      const subject: unknown = JSON.parse(row)
      if (Array.isArray(subject)) {
        loadTrack(account, subject[0], subject[1], fromText(state))
        return
      }
      const { late, metric, process } = subject as { late?: string; metric?: string; process: string }
      if (late !== undefined) account.loaded.push({ condition: 'late', watch: late, process, state: JSON.parse(state) })
      if (metric !== undefined)
        account.loaded.push({ condition: 'metric', watch: metric, process, state: JSON.parse(state) })
    },
    seed(name, marks, options): void {
      const account = accounts.get(name)
      if (account !== undefined) seedMarks(desk, account, marks, options)
    },
    takeDirty(): StateRow[] {
      firing.take()
      return desk.takeRows()
    },
    dirtyCount: desk.count,
    omit: firing.omit,
    waiting: () => [...desk.waits.values()].filter((it) => it.judgedAtUs > judgedUs && !it.lost.isSuspended),
    dropped: (name) => [...(accounts.get(name)?.dropped ?? [])],
  }
}

function withDowntime(known: readonly Downtime[], downtime: Downtime): readonly Downtime[] {
  const others = known.filter(({ fromUs, node }) => fromUs !== downtime.fromUs || node !== downtime.node)
  return [...others, downtime].sort((a, b) => a.fromUs - b.fromUs)
}
