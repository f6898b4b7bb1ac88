// The judge in tests: watches, marks, and a judge over rows and alerts in memory, which can be killed at any step.

import { createMatch } from '../../../src/process/process-pattern.ts'
import { type ConditionRules, completeConditions, toConditionRules } from '../../../src/watch/conditions/conditions.ts'
import type { Downtime } from '../../../src/watch/log/episode.ts'
import { createJudge } from '../../../src/watch/log/judge.ts'
import type {
  Change,
  EndedByHand,
  JudgedAlert,
  JudgedWatch,
  Mark,
  RaisedException,
  StateRow,
  WatchJudge,
} from '../../../src/watch/log/judge-interface.ts'
import type { Condition } from '../../../src/wire/conditions.ts'
import type { CreateWatch } from '../../../src/wire/watches.ts'

export const S = 1e6
export const MIN = 60 * S
export const HOUR = 3600 * S
export const DAY = 24 * HOUR
/** A Thursday in winter. */
export const T0 = Date.UTC(2026, 10, 26) * 1000
export const ACCOUNT = 'acc_1'

type Conditions = Pick<CreateWatch, Condition>

export function watchOf(
  id: string,
  conditions: Conditions,
  { process = 'job', meta = null, sinceUs = T0 - 1, since = {} }: Partial<WatchParts> = {},
): JudgedWatch {
  const rules: ConditionRules = toConditionRules(completeConditions(conditions))
  return {
    id,
    process,
    meta,
    rules,
    sinceUs: (condition) => since[condition] ?? sinceUs,
    matches: createMatch(process),
  }
}

interface WatchParts {
  readonly process: string
  readonly meta: string | null
  readonly sinceUs: number
  readonly since: { readonly [N in Condition]?: number }
}

export const markOf = (kind: Mark['kind'], atUs: number, more: Partial<Mark> = {}): Mark => ({
  ...{ kind, process: 'job', meta: '', uid: '', atUs, arrivedUs: atUs },
  ...more,
})

export const isMark = (event: Mark | RaisedException): event is Mark => 'kind' in event

/** An alert as the table has it. */
export interface StoredAlert {
  readonly alert: JudgedAlert
  untilUs?: number
  endedBy?: string
}

export type Desk = ReturnType<typeof openDesk>

export interface DeskOptions {
  readonly maxRunUs?: number
  watches: readonly JudgedWatch[]
  downtimes?: readonly Downtime[]
  /** Of the stamps at that time. */
  leadUs?(us: number): number
}

/** What is stored survives `kill`; the rest is lost. */
export function openDesk(options: DeskOptions) {
  const rows = new Map<string, StateRow>()
  const alerts: StoredAlert[] = []
  const known = new Set<string>()
  /** Those that fire, by watch and instance. */
  const current = new Map<string, StoredAlert>()
  const nameOf = (watch: string, name: string) => `${watch} ${name}`
  const byHand: EndedByHand[] = []
  const downtimes: Downtime[] = [...(options.downtimes ?? [])]
  let { watches } = options
  let judgedUs = 0
  let pending: Change[] = []
  /** All that were stored, in order. */
  const log: Change[] = []
  let judge: WatchJudge

  const firing = () => [...current.values()].map(({ alert }) => alert)
  function open(): void {
    pending = []
    judge = createJudge({
      maxRunUs: options.maxRunUs ?? DAY,
      emit: (change) => pending.push(change),
      isKnown: (watch, identity) => known.has(nameOf(watch, identity)),
    })
    judge.setLead(options.leadUs?.(judgedUs) ?? 0)
    for (const downtime of downtimes) judge.addDowntime(downtime)
    for (const row of rows.values()) judge.load(row)
    judge.setWatches(ACCOUNT, { watches, firing: firing(), byHand }, judgedUs)
  }
  function commit(): void {
    for (const row of judge.takeDirty()) {
      if (row.state === null) rows.delete(row.name)
      else rows.set(row.name, row)
    }
    for (const change of pending) {
      const { alert } = change
      const instance = nameOf(alert.watch, alert.instance)
      const stored = current.get(instance)
      if (change.kind === 'open') {
        const { untilUs } = change
        if (known.has(nameOf(alert.watch, alert.identity))) throw new Error(`opens twice: ${alert.identity}`)
        known.add(nameOf(alert.watch, alert.identity))
        const opened = { alert, ...(untilUs !== undefined && { untilUs, endedBy: 'event' }) }
        alerts.push(opened)
        if (untilUs !== undefined) continue
        if (stored !== undefined) throw new Error(`fires twice: ${alert.instance}`)
        current.set(instance, opened)
      }
      if (change.kind === 'end') {
        if (stored?.alert.identity !== alert.identity) throw new Error(`ends what does not fire: ${alert.identity}`)
        stored.untilUs = change.untilUs
        stored.endedBy = change.endedBy
        current.delete(instance)
      }
    }
    log.push(...pending)
    pending = []
    judgedUs = judge.judgedUs()
  }
  function advance(us: number): void {
    judge.setLead(options.leadUs?.(us) ?? 0)
    while (!judge.advance(us)) commit()
  }
  open()
  return {
    get judge() {
      return judge
    },
    rows,
    alerts,
    log,
    firing,
    pending: () => pending,
    advance,
    commit,
    kill: open,
    /** Each after what was due before. */
    apply(...events: readonly (Mark | RaisedException)[]): void {
      for (const event of events) {
        advance(event.arrivedUs)
        if (isMark(event)) judge.applyMark(ACCOUNT, event)
        else judge.applyException(ACCOUNT, event)
      }
    },
    addDowntime(downtime: Downtime): void {
      downtimes.push(downtime)
      judge.addDowntime(downtime)
    },
    change(changed: readonly JudgedWatch[]): void {
      commit()
      watches = changed
      judge.setWatches(ACCOUNT, { watches, firing: firing(), byHand })
    },
    endByHand(instance: string, atUs: number, isExpired = false): void {
      commit()
      for (const [name, it] of current) {
        if (it.alert.instance !== instance) continue
        it.untilUs = atUs
        it.endedBy = isExpired ? 'expired' : 'person'
        byHand.push({ watch: it.alert.watch, instance, atUs, isExpired })
        current.delete(name)
      }
      judge.setWatches(ACCOUNT, { watches, firing: firing(), byHand })
    },
    /** What happened, in short: `late@600 ends@660`, in seconds since T0. */
    story(): string {
      const all = [...log, ...pending]
      return all
        .map((it) => {
          const { condition, episode } = it.alert
          if (it.kind === 'end')
            return `${condition} ${it.endedBy === 'event' ? 'ends' : it.endedBy}@${secondsOf(it.untilUs)}`
          if (it.kind === 'explain') return `${condition} explained`
          const over = it.untilUs === undefined ? '' : `–${secondsOf(it.untilUs)}`
          return `${condition}@${secondsOf(episode.sinceUs)}${over}${episode.lost ? '?' : ''}`
        })
        .join(' ')
    },
  }
}

const secondsOf = (us: number): number => Math.round((us - T0) / S)
