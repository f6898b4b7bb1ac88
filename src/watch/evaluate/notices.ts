// Notifies channels when their watches could not be judged for 10 minutes, and when they are judged again. Invariants:
// * One notice per account and outage, however many watches, restarts and nodes: its row names the channels that know.
// * A channel gets it by its own rules: filters, delay, and maintenances of all its watches that are concerned.
import { spanUs } from '../conditions/span.ts'
import { iso, minute } from '../conditions/wording.ts'
import { heldUntilUs } from '../maintenance.ts'
import { createId } from '../random-id.ts'
import type { Channel, NewNotification, NotificationBody, UnjudgedNotice, WatchStore } from '../storage/watch-store.ts'
import type { StoredWatch } from '../watch.ts'
import type { AccountState } from './account-state.ts'
import { concerned, type createGaps, type Gap } from './gaps.ts'

const AFTER_US = 600e6
const EVERY_US = 5e6
/** Channels that must wait, or are added, are looked for again after this time. */
const AGAIN_US = 60e6
const NAMED = 3

export interface NoticesOptions {
  readonly store: Pick<WatchStore, 'unjudged' | 'noteUnjudged' | 'noteJudged' | 'channels' | 'maintenances'>
  readonly accounts: ReadonlyMap<string, AccountState>
  readonly gaps: Pick<ReturnType<typeof createGaps>, 'list'>
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
  let isBusy = false

  async function begin(account: string, state: AccountState, own: readonly Gap[]): Promise<void> {
    const now = nowUs()
    const gap = own.reduce((a, b) => (b.sinceUs < a.sinceUs ? b : a))
    const ageUs = now - gap.sinceUs
    const known = notices?.get(account)
    if (ageUs < AFTER_US && known === undefined) return
    const isFresh = monotonicUs() - (seen.get(account) ?? Number.NEGATIVE_INFINITY) >= AGAIN_US
    if (!isFresh) return
    seen.set(account, monotonicUs())
    const watches = (state.watches ?? []).flatMap((watch) => {
      const rules = state.rules.get(watch.id)?.rules
      if (rules === undefined || (rules.pausedUntilUs ?? 0) > now) return []
      const conditions = own.flatMap(({ missing }) => concerned(rules, missing))
      return conditions.length === 0 ? [] : [{ watch, conditions }]
    })
    if (watches.length === 0) return
    const maintenances = (await store.maintenances(account)).map(({ spec }) => spec)
    const id = known?.id ?? createId('unj')
    const notifications = (await store.channels(account)).flatMap((channel): NewNotification[] => {
      const { conditions: wanted } = channel.settings
      const mine = watches.filter(
        ({ watch: { spec }, conditions }) =>
          spec.channels.includes(channel.id) &&
          heldUntilUs(maintenances, spec.process, now) === undefined &&
          (wanted === null || conditions.some((name) => wanted.includes(name))),
      )
      if (mine.length === 0 || known?.channels.includes(channel.id) || ageUs < AFTER_US + delayUs(channel)) return []
      const named = mine.map(({ watch }) => watch)
      const summary = `${namesOf(named)} could not be judged since ${minute(gap.sinceUs)}: ${gap.reason}`
      const body = bodyOf({ type: 'watches.unjudged', id, watches: named, sinceUs: gap.sinceUs, summary })
      return [{ id: createId('msg'), channel: channel.id, body }]
    })
    if (notifications.length === 0) return
    notices?.set(account, await store.noteUnjudged({ id, account, sinceUs: gap.sinceUs }, notifications, now))
    options.onChanged?.()
  }

  /** Once an evaluation after the outage lacked nothing. */
  async function end(notice: UnjudgedNotice): Promise<void> {
    const { id, account, sinceUs, channels } = notice
    const state = accounts.get(account)
    if (state !== undefined && state.goodUs <= (seen.get(account) ?? bornUs)) {
      state.dueUs = Number.NEGATIVE_INFINITY
      return
    }
    const untilUs = state === undefined ? nowUs() : nowUs() - (monotonicUs() - state.goodUs)
    const notifications = channels.flatMap((channel): NewNotification[] => {
      const watches = (state?.watches ?? []).filter(({ spec }) => spec.channels.includes(channel))
      const summary =
        watches.length === 0
          ? `The watches that could not be judged since ${minute(sinceUs)} were removed`
          : `${namesOf(watches)} ${watches.length > 1 ? 'are' : 'is'} judged again since ${minute(untilUs)}, ` +
            `and could not be since ${minute(sinceUs)}`
      const body = bodyOf({ type: 'watches.judged', id, watches, sinceUs, untilUs, summary })
      return [{ id: createId('msg'), channel, body }]
    })
    await store.noteJudged(account, notifications, nowUs())
    notices?.delete(account)
    seen.delete(account)
    options.onChanged?.()
  }

  interface Notice {
    readonly type: 'watches.unjudged' | 'watches.judged'
    readonly id: string
    readonly watches: readonly StoredWatch[]
    readonly sinceUs: number
    readonly untilUs?: number
    readonly summary: string
  }

  function bodyOf({ type, id, watches, sinceUs, untilUs, summary }: Notice): NotificationBody {
    const [first] = watches
    const isOne = watches.length === 1
    return {
      type,
      timestamp: iso(nowUs()),
      data: {
        id,
        watch: isOne ? { id: first!.id, name: first!.spec.name } : { id: '', name: namesOf(watches) },
        watches: watches.map((watch) => ({ id: watch.id, name: watch.spec.name })),
        condition: null,
        process: isOne ? first!.spec.process : '',
        ...{ meta: null, uid: null, since: iso(sinceUs), started_at: null },
        resolved_at: untilUs === undefined ? null : iso(untilUs),
        ...{ ended_by: null, exception: null, usual_ms: null, summary, url: `${publicUrl()}/#/watches` },
      },
      facts: [['Watches', watches.map(({ spec }) => spec.name).join(', ')]],
    }
  }

  async function check(): Promise<void> {
    notices ??= new Map((await store.unjudged()).map((notice) => [notice.account, notice]))
    const found = Map.groupBy(gaps.list(), ({ account }) => account)
    if (found.size === 0 && notices.size === 0) return
    const ofAll = found.get(undefined) ?? []
    for (const [account, state] of [...accounts]) {
      const own = [...ofAll, ...(found.get(account) ?? [])]
      if (own.length > 0) await begin(account, state, own)
    }
    for (const notice of [...notices.values()]) {
      const isOver = ofAll.length === 0 && !found.has(notice.account)
      if (options.isListed() && (isOver || !accounts.has(notice.account))) await end(notice)
    }
  }

  return {
    async step(): Promise<void> {
      if (isBusy || monotonicUs() - steppedUs < EVERY_US) return
      steppedUs = monotonicUs()
      isBusy = true
      await check().finally(() => {
        isBusy = false
      })
    },
  }
}

const delayUs = ({ settings: { delay } }: Channel): number => (delay === null ? 0 : spanUs(delay))

/** `nightly, hourly and 3 more`. */
function namesOf(watches: readonly StoredWatch[]): string {
  const names = watches.slice(0, NAMED).map(({ spec }) => spec.name)
  const more = watches.length - names.length
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ')
}
