// Notifies channels when their watches could not be judged for 10 minutes, and when they are judged again. Invariants:
// * One notice per account and outage, however many watches, restarts and nodes: its row names the channels that know
//   of it, and is written when the gap is first shown, so a restart keeps its beginning.
// * A channel gets it by its own rules: filters, delay, and maintenances of all its watches that are concerned.

import { heldUntilUs } from '../../notify/maintenance.ts'
import type { Condition } from '../../wire/conditions.ts'
import { spanUs } from '../conditions/span.ts'
import { iso, minute } from '../conditions/wording.ts'
import { createId } from '../random-id.ts'
import type { WatchStore } from '../storage/create-watch-store.ts'
import type { Channel, NewNotification, UnjudgedNotice } from '../storage/watch-store.ts'
import type { StoredWatch } from '../watch.ts'
import type { AccountState } from './account-state.ts'
import { plainBody } from './describe-alert.ts'
import { concerned, type createGaps, type Gap } from './gaps.ts'

const AFTER_US = 600e6
const EVERY_US = 5e6
/** Channels that must wait, or are added, are looked for again after this time. */
const AGAIN_US = 60e6
const NAMED = 3

export interface NoticesOptions {
  readonly store: Pick<WatchStore, 'unjudged' | 'noteUnjudged' | 'noteJudged' | 'channels' | 'maintenances'>
  readonly accounts: ReadonlyMap<string, AccountState>
  readonly gaps: Pick<ReturnType<typeof createGaps>, 'list' | 'inherit'>
  /** The accounts with watches are known. */
  isListed(): boolean
  nowUs(): number
  monotonicUs(): number
  publicUrl(): string
  onChanged?(): void
}

export function createNotices(options: NoticesOptions) {
  const { store, accounts, gaps, nowUs, monotonicUs, publicUrl } = options
  let notices: Map<string, UnjudgedNotice> | undefined
  /** When a gap of an account with a notice was last seen; monotonic. */
  const seen = new Map<string, number>()
  const bornUs = monotonicUs()
  let steppedUs = Number.NEGATIVE_INFINITY
  let busy: Promise<void> | undefined
  let isStopping = false

  const isActive = ({ rules }: AccountState, { id }: StoredWatch): boolean =>
    (rules.get(id)?.rules.pausedUntilUs ?? 0) <= nowUs()

  /** What active watches of an account lack. */
  function lacksOf(state: AccountState, own: readonly Gap[]): Lack[] {
    return (state.watches ?? []).flatMap((watch) => {
      const rules = state.rules.get(watch.id)?.rules
      if (rules === undefined || !isActive(state, watch)) return []
      return own.flatMap(({ missing, sinceUs, reason }) =>
        concerned(rules, missing).map((condition) => ({ watch, condition, reason, sinceUs })),
      )
    })
  }

  async function begin(account: string, lacks: readonly Lack[]): Promise<void> {
    const now = nowUs()
    const { sinceUs } = oldestOf(lacks)
    const seenUs = seen.get(account) ?? Number.NEGATIVE_INFINITY
    let known = notices?.get(account)
    if (known === undefined) {
      if (lacks.every(({ watch: { spec } }) => spec.channels.length === 0)) return
      known = await store.noteUnjudged({ id: createId('unj'), account, sinceUs }, [], now)
      notices?.set(account, known)
    }
    if (now - sinceUs < AFTER_US || monotonicUs() - seenUs < AGAIN_US) return
    seen.set(account, monotonicUs())
    const { id, channels } = known
    const maintenances = (await store.maintenances(account)).map(({ spec }) => spec)
    const notifications = (await store.channels(account)).flatMap((channel): NewNotification[] => {
      const { conditions: wanted } = channel.settings
      const mine = lacks.filter(
        ({ watch: { spec }, condition }) =>
          spec.channels.includes(channel.id) &&
          (wanted === null || wanted.includes(condition)) &&
          heldUntilUs(maintenances, spec.process, now) === undefined,
      )
      if (mine.length === 0 || channels[channel.id] !== undefined) return []
      const { sinceUs, reason } = oldestOf(mine)
      if (now - sinceUs < AFTER_US + delayUs(channel)) return []
      const watches = [...new Set(mine.map(({ watch }) => watch))]
      const summary = `${namesOf(watches)} could not be judged since ${minute(sinceUs)}: ${reason}`
      return [{ id: createId('msg'), channel: channel.id, body: bodyOf(id, watches, summary, sinceUs) }]
    })
    if (notifications.length === 0) return
    notices?.set(account, await store.noteUnjudged(known, notifications, now))
    options.onChanged?.()
  }

  /** Once an evaluation after the outage lacked nothing. */
  async function end({ id, account, channels }: UnjudgedNotice): Promise<void> {
    const state = accounts.get(account)
    if (state !== undefined && state.goodUs <= (seen.get(account) ?? bornUs)) {
      state.dueUs = Number.NEGATIVE_INFINITY
      return
    }
    const untilUs = state === undefined ? nowUs() : nowUs() - (monotonicUs() - state.goodUs)
    const notifications = Object.entries(channels).map(([channel, { sinceUs, watches: ids }]): NewNotification => {
      const watches = (state?.watches ?? []).filter((watch) => ids.includes(watch.id) && isActive(state!, watch))
      const summary =
        watches.length === 0
          ? `The watches that could not be judged since ${minute(sinceUs)} were removed or paused`
          : `${namesOf(watches)} ${watches.length > 1 ? 'are' : 'is'} judged again since ${minute(untilUs)}, ` +
            `and could not be since ${minute(sinceUs)}`
      return { id: createId('msg'), channel, body: bodyOf(id, watches, summary, sinceUs, untilUs) }
    })
    await store.noteJudged(account, notifications, nowUs())
    notices?.delete(account)
    seen.delete(account)
    options.onChanged?.()
  }

  /** `untilUs`: they are judged again. */
  function bodyOf(id: string, watches: readonly StoredWatch[], summary: string, sinceUs: number, untilUs?: number) {
    const all = watches.map((watch) => ({ id: watch.id, name: watch.spec.name }))
    const data = {
      ...{ id, summary, url: `${publicUrl()}/#/watches`, since: iso(sinceUs), watches: all },
      watch: all.length === 1 ? all[0]! : { id: '', name: namesOf(watches) },
      process: watches.length === 1 ? watches[0]!.spec.process : '',
      resolved_at: untilUs === undefined ? null : iso(untilUs),
    }
    const type = untilUs === undefined ? 'watches.unjudged' : 'watches.judged'
    return plainBody(type, nowUs(), data, [['Watches', all.map(({ name }) => name).join(', ')]])
  }

  async function check(): Promise<void> {
    if (notices === undefined) {
      const rows = await store.unjudged()
      gaps.inherit(new Map(rows.map(({ account, sinceUs }) => [account, sinceUs])))
      notices = new Map(rows.map((notice) => [notice.account, notice]))
    }
    const found = Map.groupBy(gaps.list(), ({ account }) => account)
    if (found.size === 0 && notices.size === 0) return
    const ofAll = found.get(undefined) ?? []
    for (const [account, state] of [...accounts]) {
      if (isStopping) return
      const own = [...ofAll, ...(found.get(account) ?? [])]
      const lacks = own.length === 0 ? [] : lacksOf(state, own)
      const notice = notices.get(account)
      if (lacks.length > 0) await begin(account, lacks)
      else if (notice !== undefined && state.watches !== undefined) await end(notice)
    }
    if (!options.isListed()) return
    for (const notice of [...notices.values()]) if (!accounts.has(notice.account)) await end(notice)
  }

  return {
    async step(): Promise<void> {
      if (busy !== undefined || monotonicUs() - steppedUs < EVERY_US) return
      steppedUs = monotonicUs()
      busy = check().finally(() => {
        busy = undefined
      })
      await busy
    },
    /** Resolves when nothing is written any more. */
    async stop(): Promise<void> {
      isStopping = true
      await busy
    },
  }
}

/** A condition of a watch that cannot be judged. */
interface Lack {
  readonly watch: StoredWatch
  readonly condition: Condition
  readonly sinceUs: number
  readonly reason: string
}

const oldestOf = (lacks: readonly Lack[]): Lack => lacks.reduce((a, b) => (b.sinceUs < a.sinceUs ? b : a))

const delayUs = ({ settings: { delay } }: Channel): number => (delay === null ? 0 : spanUs(delay))

/** `nightly, hourly and 3 more`. */
function namesOf(watches: readonly StoredWatch[]): string {
  const names = watches.slice(0, NAMED).map(({ spec }) => spec.name)
  const more = watches.length - names.length
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ')
}
