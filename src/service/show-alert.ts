// GET /api/alerts/:id: what the watches, the notes, live and the stores know of an alert, put together. Invariants:
// * Sentence, watch, notifications and note need no store, and the answer comes whatever the stores do.
// * The parts that stores are asked for have 3 s in all, and each is a question of the desk; one that did not come is
//   named, and has what is known without it.
// * No older run is shown as the last good one while a newer one may not be stored.
import type { Accounts } from '../account/accounts.ts'
import { toTime } from '../clock.ts'
import { formatNs } from '../event/stamp.ts'
import type { Account } from '../live/account.ts'
import type { AskOverview } from '../live/overview/overview.ts'
import { type FoundRun, findKnown, raisedBy, runsAround } from '../live/runs-around.ts'
import { Problem } from '../problem.ts'
import { answerException } from '../query/answers.ts'
import { ask, type Desk } from '../query/desk.ts'
import { createGroupQuestions } from '../query/exception-groups.ts'
import { compareMetrics, createRunParts, type RunPartsDeps } from '../query/run-parts.ts'
import { createSeenBefore } from '../query/seen-before.ts'
import { compare } from '../store/order.ts'
import type { Asker, ExceptionRow, PlainTiming } from '../store/source.ts'
import { mapInTurns } from '../turns.ts'
import type { AlertSubject, KnownAlert } from '../watch/manage/show-alert.ts'
import type { Watches } from '../watch/watches.ts'
import type { AlertDetail, RaisedException, StoredPart } from '../wire/alert-detail.ts'
import { exitOf } from '../wire/exit-of.ts'
import type { ProcessNote } from '../wire/process-notes.ts'
import { answerRun, pickAround } from './pick-around.ts'

interface ShowAlertDeps extends RunPartsDeps {
  readonly desk: Desk
  readonly watches: Pick<Watches, 'showAlert'>
  readonly notes: Pick<Accounts['notes'], 'find'>
  readonly groupStates: Accounts['groupStates']
  readonly overview: Pick<AskOverview, 'look'>
  /** No earlier than any stamp given so far. */
  nowUs(): number
  /** What arrived before is in the stores. */
  storedUs(): number
  readonly withinMs?: number
}

const WITHIN_MS = 3_000
const AROUND_US = 600e6
/** Of them the newest are counted. */
const AROUND_MAX = 1_000
const GAPS = 10
const WEEK_NS = 7n * 86_400_000_000_000n

/** An exception, of the store or from memory. */
type KnownException = Omit<ExceptionRow, 'place'>
/** Asks the stores, in a turn of the desk. */
type Part = <T>(name: StoredPart, work: (parts: RunParts, asker: Asker) => Promise<T>, otherwise: T) => Promise<T>

const toNs = (us: number): bigint => BigInt(Math.round(us)) * 1000n
const toUs = (ns: bigint | undefined): number | undefined => (ns === undefined ? undefined : Number(ns / 1000n))

/** Rejects with Problem `not_found`, and `store_unavailable` while the database of accounts is away. */
export function createShowAlert(deps: ShowAlertDeps) {
  const { desk, watches, notes, overview, exceptions, nowUs, storedUs, withinMs = WITHIN_MS } = deps
  const groups = createGroupQuestions(exceptions, deps.groupStates)
  const seen = createSeenBefore(exceptions)

  return async (account: string, id: string, isBrief: boolean, left?: AbortSignal): Promise<AlertDetail> => {
    const { subject, shown } = await watches.showAlert(account, id, isBrief)
    const note = await notes.find(account, subject.process)
    const { followedUs } = subject.episode ?? {}
    const moments = { nowNs: toNs(nowUs()), ...(followedUs !== undefined && { followedNs: toNs(followedUs) }) }
    const unavailable = new Set<StoredPart>()
    const stop = new AbortController()
    const late = Promise.withResolvers<undefined>()
    const timer = setTimeout(() => {
      stop.abort()
      late.resolve(undefined)
    }, withinMs)
    const reader = { isShort: true, left: left ? AbortSignal.any([left, stop.signal]) : stop.signal }
    const unless = <T>(name: StoredPart, found: Promise<T>, otherwise: T): Promise<T> =>
      found.catch((error: unknown) => {
        if (!(error instanceof Problem)) throw error
        unavailable.add(name)
        return otherwise
      })
    const part: Part = (name, work, otherwise) => {
      const turn = desk(account, reader, (signal) => {
        const asker = { account, signal, isShort: true }
        return ask(work(createRunParts(deps, asker, moments), asker))
      })
      return unless(name, turn, otherwise)
    }
    const looked = unless('around', Promise.race([overview.look(account), late.promise]), undefined).then((look) => {
      if (look === undefined) unavailable.add('around')
      return look?.account
    })
    try {
      const omit = (name: StoredPart) => unavailable.add(name)
      const parts = await findParts(subject, shown.alert.state === 'firing', part, omit, looked)
      return { ...shown, ...parts, ...note, unavailable: [...unavailable] }
    } finally {
      clearTimeout(timer)
      late.resolve(undefined)
    }
  }

  async function findParts(
    subject: AlertSubject,
    isFiring: boolean,
    part: Part,
    omit: (name: StoredPart) => void,
    looked: Promise<Account | undefined>,
  ): Promise<Omit<AlertDetail, keyof KnownAlert['shown'] | keyof ProcessNote | 'unavailable'>> {
    const { process, condition, sinceUs, episode } = subject
    const isOfRun = condition !== 'late' && condition !== 'metric'
    const name = { process, meta: subject.meta ?? '' }
    const isAllStored = storedUs() > sinceUs

    /** The store's, until that has it live's, else what the watch remembers. */
    async function findRun(): Promise<{ readonly run?: PlainTiming | undefined; readonly isStored: boolean }> {
      const stored = await part('run', (parts) => findStoredRun(subject, parts), undefined)
      if (stored !== undefined) return { run: stored, isStored: true }
      const known = { ...name, uid: subject.uid ?? '', startUs: subject.startedUs ?? undefined, endUs: sinceUs }
      const found = findKnown(await looked, known)
      if (found !== undefined) return { run: toTiming(found), isStored: false }
      // live forgets a run long after it is stored
      return { run: rememberedRun(subject, isFiring), isStored: true }
    }

    /** `isStored`: everything is stored that arrived before the run, as a store has a node's events in log order. */
    async function findGood(beforeNs: bigint, isStored: boolean): Promise<PlainTiming | undefined> {
      if (isStored && isAllStored)
        return part('good_run', (parts, asker) => parts.good(name, beforeNs, groups.troubleOf(asker)), undefined)
      omit('good_run')
      return undefined
    }

    async function findExceptions(run: PlainTiming | undefined): Promise<RaisedException[]> {
      if (run === undefined && episode?.cause !== 'exception') return []
      const find = (parts: RunParts) =>
        run === undefined ? parts.exceptionsAt(name, toNs(sinceUs)) : parts.exceptions(run)
      const stored = await part('exceptions', find, [])
      const found = run && { ...run, startUs: toUs(run.startedNs), endUs: toUs(run.endedNs) }
      const rows = stored.length > 0 ? stored : raisedBy(await looked, name, found, sinceUs)
      if (rows.length === 0) return []
      return part('exceptions', (_, asker) => describeRaised(asker, rows, run), rows.map(answerException))
    }

    /** With when their groups were raised before this run. */
    async function describeRaised(asker: Asker, rows: readonly KnownException[], run: PlainTiming | undefined) {
      const byGroup = Map.groupBy(rows, ({ fingerprint }) => fingerprint)
      const named = [...byGroup.values()].map(([row]) => ({ ...row!, example: row!.exception }))
      const times = [...rows.map(({ atNs }) => atNs), ...(run?.startedNs === undefined ? [] : [run.startedNs])]
      const [beganNs = 0n] = times.toSorted(compare)
      const newestNs = rows[0]?.atNs ?? 0n
      const week = { ...asker, process, fromNs: newestNs - WEEK_NS, toNs: newestNs + 1n, only: named }
      const [before, counted] = await Promise.all([
        seen.before(asker, named, beganNs),
        exceptions.groupExceptions(week, { limit: named.length }),
      ])
      return rows.map((row): RaisedException => {
        const { firstNs, previousNs } = before[named.findIndex((it) => it.fingerprint === row.fingerprint)]!
        const count = counted.find((it) => it.fingerprint === row.fingerprint)?.count
        return {
          ...answerException(row),
          first_seen_at: formatNs(firstNs ?? byGroup.get(row.fingerprint)!.at(-1)!.atNs),
          previous_at: previousNs === undefined ? null : formatNs(previousNs),
          ...(count !== undefined && { last_7_days: count }),
        }
      })
    }

    async function findAround(own: PlainTiming | undefined): Promise<AlertDetail['around']> {
      const [fromUs, toUs] = [sinceUs - AROUND_US, Math.min(sinceUs + AROUND_US, nowUs())]
      const [fromNs, toNsOf] = [toNs(fromUs), toNs(toUs)]
      const account = await looked
      const { runs, isWhole } = account ? await runsAround(account, fromUs, toUs) : { runs: [], isWhole: false }
      const stored = isWhole ? [] : await part('around', (parts) => parts.around(fromNs, toNsOf, AROUND_MAX), [])
      return pickAround([...(await mapInTurns(runs, toTiming)), ...stored], own, {
        sinceNs: toNs(sinceUs),
        fromNs,
        toNs: toNsOf,
      })
    }

    async function findLate(): Promise<AlertDetail['late']> {
      const { dueUs, lastUs } = episode ?? {}
      const find = (parts: RunParts) => parts.starts(process, subject.meta ?? undefined, toNs(sinceUs), GAPS + 1)
      const starts = await part('late', find, [])
      const lastNs = starts.at(-1) ?? (lastUs === undefined ? undefined : toNs(lastUs))
      return {
        due_at: dueUs === undefined ? null : toTime(Math.floor(dueUs / 1000)),
        last_start_at: lastNs === undefined ? null : formatNs(lastNs),
        gaps_ms: starts.slice(1).map((ns, i) => Number((ns - starts[i]!) / 1000n) / 1000),
      }
    }

    const { run, isStored } = isOfRun ? await findRun() : { isStored: true }
    const beforeNs = run?.startedNs ?? run?.endedNs ?? toNs(sinceUs)
    const good = isOfRun ? findGood(beforeNs, isStored) : Promise.resolve(undefined)
    const outputOf = (of: StoredPart, it: PlainTiming | undefined) =>
      it === undefined ? null : part(of, (parts) => parts.output(it), null)
    const metricsOf = (it: PlainTiming | undefined) =>
      it === undefined ? {} : part('metrics', (parts) => parts.metrics(it), {})
    const [goodRun, raised, around, late, values, goodValues, output, goodOutput] = await Promise.all([
      good,
      findExceptions(run),
      findAround(run),
      condition === 'late' ? findLate() : null,
      metricsOf(run),
      good.then(metricsOf),
      outputOf('output', run),
      good.then((it) => outputOf('good_output', it)),
    ])
    const exit = exitOf(raised)
    return {
      run: run === undefined ? null : { ...answerRun(run), exit },
      good_run: goodRun === undefined ? null : { ...answerRun(goodRun), exit: null },
      late,
      metrics: compareMetrics(values, goodValues),
      output,
      good_output: goodOutput,
      exceptions: raised,
      around,
    }
  }
}

type RunParts = ReturnType<typeof createRunParts>

async function findStoredRun(subject: AlertSubject, parts: RunParts): Promise<PlainTiming | undefined> {
  const { process, meta, uid, startedUs, sinceUs, episode } = subject
  const name = { process, meta: meta ?? '' }
  if (startedUs !== null) return parts.byStart({ ...name, uid: uid ?? '' }, toNs(startedUs))
  if (episode?.cause === 'exception') return parts.byException(name, uid, toNs(sinceUs))
  return parts.byEnd({ ...name, ...(uid !== null && { uid }) }, toNs(sinceUs))
}

/** As the watch remembers it: only what is sure. */
function rememberedRun(
  { process, meta, uid, startedUs, sinceUs, condition, episode }: AlertSubject,
  isFiring: boolean,
): PlainTiming | undefined {
  const name = { process, meta: meta ?? '', uid: uid ?? '' }
  const started = startedUs === null ? {} : { startedNs: toNs(startedUs) }
  if (condition === 'failed' && episode?.cause === 'failed')
    return { ...name, ...started, endedNs: toNs(sinceUs), state: 'failed' }
  if (startedUs === null) return undefined
  if (condition === 'failed' && episode?.cause === 'abandoned') return { ...name, ...started, state: 'abandoned' }
  return condition === 'long' && isFiring ? { ...name, ...started, state: 'running' } : undefined
}

function toTiming({ process, meta, uid, state, startUs, endUs }: FoundRun): PlainTiming {
  return {
    process,
    meta,
    uid,
    state,
    ...(startUs !== undefined && { startedNs: toNs(startUs) }),
    ...(endUs !== undefined && { endedNs: toNs(endUs) }),
  }
}
