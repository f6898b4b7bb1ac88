// The processes of an account from what the stores know, united with what the log has had since. Pure.
//
// An event that is in both counts once: marks by uid, kind, time and rest of the stamp, exceptions by time, rest and
// group. Runs are counted from their marks; where these are too many to be here, closed hours have the store's figures,
// and what the log changes of them.
import type { FoundMark, TimingSummaryRow } from '../store/source.ts'
import { groupInTurns, rest, spend } from '../turns.ts'
import { longHeadline } from '../wire/headline.ts'
import {
  type Account,
  bytesAt,
  dropProcesses,
  FOLD_STEPS,
  type Folding,
  findProcess,
  type LoggedEvent,
  noteEvent,
  noteMeta,
  type Process,
  raisedOf,
  rowOf,
  type Seqs,
  toException,
  toMark,
} from './account.ts'
import { type BaseHead, type BasePage, EACH } from './base.ts'
import { countHour, HOUR_US } from './hours.ts'
import type { LiveMark, LiveRun } from './marks.ts'
import { addMoment, findGroup, raise } from './raised.ts'
import {
  countChange,
  countedUs,
  expired,
  FAILURES,
  FIGURES,
  fillRow,
  foldMarks,
  noteOlder,
  noteStartHour,
  ORPHANS,
  pairAll,
  type Row,
  RUNS,
  UNFINISHED,
} from './row.ts'

/** The steps of a row and of each of its marks. */
const [ROW_STEPS, MARK_STEPS] = [20, 3]

const toUs = (ns: bigint): number => Number(ns / 1000n)
const keyOf = (process: string, meta: string): string => `${process}\0${meta}`

interface Building extends Folding {
  readonly nowUs: number
  /** Events before these positions were in the stores before the figures were read. */
  readonly delivered: Seqs
}

/** Adds the processes and their exceptions. */
export async function addHead(account: Account, head: BaseHead): Promise<void> {
  const { processes, raised, countsSinceUs, omitted } = head
  Object.assign(account, { countsSinceUs, omitted })
  for (const { process: name, metas, lastNs } of processes) {
    const process = findProcess(account, name)
    for (const meta of metas) noteMeta(process, meta)
    process.seenUs = Math.max(process.seenUs, toUs(lastNs))
    if (spend(4 + metas.length)) await rest()
  }
  for (const { process: name, meta, fingerprint, example, moments, hours } of raised) {
    const [newest] = moments
    if (spend(8 + moments.length + hours.length)) await rest()
    if (newest === undefined) continue
    const own = raisedOf(findProcess(account, name), meta)
    const group = findGroup(own, fingerprint)
    Object.assign(group, { atUs: toUs(newest.atNs), restNs: newest.restNs, headline: longHeadline(example) })
    for (const [hour, count] of hours) group.hours = countHour(group.hours, 1, hour * HOUR_US, 0, count)
    for (const { atNs, restNs, uid } of moments)
      addMoment(own, { atUs: toUs(atNs), restNs, uid: uid === '' ? null : uid, group })
  }
}

/** Adds the rows of a page. `events`: what the log has had of its processes since the base began. */
export async function addPage(
  account: Account,
  page: BasePage,
  events: readonly LoggedEvent[],
  building: Building,
): Promise<void> {
  const starts = new Map(page.starts.map((row) => [keyOf(row.process, row.meta), row]))
  const figures = Map.groupBy(page.figures, ({ process, meta = '' }) => keyOf(process, meta))
  const logged = await groupInTurns(events, ({ event }) => keyOf(event.process, event.meta))
  const stored = await groupInTurns(page.marks, ({ process, meta }) => keyOf(process, meta))
  for (const key of new Set([...stored.keys(), ...logged.keys()])) {
    const [name, meta] = key.split('\0') as [string, string]
    const known = (stored.get(key) ?? []).map(fromStored)
    const news = (logged.get(key) ?? []).filter(isMark)
    if (known.length + news.length === 0) continue
    const row = rowOf(findProcess(account, name), meta)
    for (const hour of starts.get(key)?.hours ?? []) noteStartHour(row, hour * 1e6)
    const isFresh = ({ seqs }: LoggedEvent) => seqs.points > building.delivered.points
    const before = [...known, ...news.filter((one) => !isFresh(one)).map(markOf)]
    const runs = fillRow(row, [...known, ...news.map(markOf)], building.maxRunUs)
    if (known.length >= EACH && row.cutUs < 0) row.cutUs = Math.min(...known.map(({ atUs }) => atUs))
    const isFull = page.full.has(name)
    if (account.countsSinceUs === undefined) {
      if (!isFull) countChange(row, [], runs)
      else {
        const counted = news.some(isFresh) ? pairAll(before, building.maxRunUs) : runs
        countRow(row, figures.get(key) ?? [], counted, runs, page, building)
      }
    }
    if (isFull) noteClosedHours(account, name, news, building)
    if (spend(ROW_STEPS + MARK_STEPS * known.length + FOLD_STEPS * news.length)) await rest()
  }
  addExceptions(account, events, building)
  for (const one of events) noteEvent(findProcess(account, one.event.process), one)
}

/** Everything that the stores have of a short range. */
export interface StoredNews extends Pick<BaseHead, 'processes' | 'raised'> {
  readonly marks: readonly FoundMark[]
}

/** Adds what other nodes have stored; events that are here already change nothing. */
export function foldStored(account: Account, { marks, raised, processes }: StoredNews, folding: Folding): void {
  const names = new Set([...marks, ...raised, ...processes].map(({ process }) => process))
  const countBytes = () => names.values().reduce((sum, name) => sum + bytesAt(account, name), 0)
  const before = countBytes()
  const changed = new Set<Process>()
  for (const { process: name, metas, lastNs } of processes) {
    const process = findProcess(account, name)
    for (const meta of metas) noteMeta(process, meta)
    process.seenUs = Math.max(process.seenUs, toUs(lastNs))
    changed.add(process)
  }
  const again = (name: string) => account.again.set(name, { points: 0, exceptions: 0 })
  for (const [key, own] of Map.groupBy(marks, ({ process, meta }) => keyOf(process, meta))) {
    const [name, meta] = key.split('\0') as [string, string]
    if (!foldMarks(rowOf(findProcess(account, name), meta), own.map(fromStored), folding.maxRunUs)) again(name)
  }
  for (const { process: name, meta, fingerprint, example: text, moments } of raised)
    for (const { atNs, restNs, uid } of moments) {
      const exception = { atUs: toUs(atNs), restNs, uid: uid === '' ? null : uid, fingerprint, text }
      if (!raise(raisedOf(findProcess(account, name), meta), exception)) again(name)
    }
  for (const process of changed) {
    process.isChanged = true
    process.version = ++account.version
  }
  account.bytes += countBytes() - before
  dropProcesses(account, folding)
}

const fromStored = ({ uid, mark, ns, restNs }: FoundMark): LiveMark => ({ uid, mark, atUs: toUs(ns), restNs })

const isMark = ({ event: { kind } }: LoggedEvent): boolean => kind === 'start' || kind === 'end'
const markOf = ({ event }: LoggedEvent): LiveMark => toMark(event)

/** `before`: the runs that the figures know. */
function countRow(
  row: Row,
  figures: readonly TimingSummaryRow[],
  before: readonly LiveRun[],
  after: readonly LiveRun[],
  { isOpenHourWhole }: BasePage,
  { nowUs, maxRunUs }: Building,
): void {
  const openHourUs = Math.floor(nowUs / HOUR_US) * HOUR_US
  const isCounted = (us: number) => !isOpenHourWhole || us < openHourUs
  addFigures(
    row,
    figures.filter(({ atNs = 0n }) => isCounted(toUs(atNs))),
  )
  const inFigures = (run: LiveRun) => isCounted(countedUs(run))
  const counted = before.map((run) => expired(run, nowUs, maxRunUs))
  countChange(row, counted.filter(inFigures), after)
}

function addFigures(row: Row, rows: readonly TimingSummaryRow[]): void {
  for (const { atNs = 0n, count, failed, abandoned, orphan, newest } of rows) {
    const us = toUs(atNs)
    noteOlder(row, toUs(newest?.completedNs ?? 0n), toUs(newest?.failedNs ?? 0n))
    for (const [figure, n] of [
      [RUNS, count],
      [FAILURES, failed],
      [UNFINISHED, abandoned],
      [ORPHANS, orphan],
    ] as const)
      row.figures = countHour(row.figures, FIGURES, us, figure, n)
  }
}

/** Whether the figures of a closed hour know an event of these seconds is not certain: the process is read again. */
function noteClosedHours(account: Account, name: string, news: readonly LoggedEvent[], { nowUs }: Building): void {
  const openHourUs = Math.floor(nowUs / HOUR_US) * HOUR_US
  const late = news.findLast((one) => markOf(one).atUs < openHourUs)
  if (late !== undefined) account.again.set(name, late.seqs)
}

function addExceptions(account: Account, events: readonly LoggedEvent[], building: Building): void {
  for (const { event, seqs } of events) {
    if (event.kind !== 'exception') continue
    const { process: name, meta } = event
    const raised = raisedOf(findProcess(account, name), meta)
    if (!raise(raised, toException(event, building))) account.again.set(name, seqs)
  }
}
