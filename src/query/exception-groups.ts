// Groups of exceptions and people's decisions about them. The status follows from state and exceptions when asked:
//
//   no state → unresolved    ignored → ignored    resolved → resolved, or regressed once it has a later exception
//
// Resolved and ignored groups are hidden: they are left out of lists, and their exceptions are no trouble of a run.
import { normalizeException } from '../event/fingerprint.ts'
import { Problem } from '../problem.ts'
import { compare, FIRST_NS, groupTie, LAST_NS } from '../store/order.ts'
import type { Asker, Buckets, ExceptionSelection, ExceptionSource, GroupKey } from '../store/source.ts'
import { mapInTurns } from '../turns.ts'
import type * as wire from '../wire/exceptions.ts'
import { answerGroup } from './answers.ts'
import { ask } from './desk.ts'
import { adoptedFrom } from './former-decisions.ts'
import type { GroupState, GroupStates } from './group-states.ts'
import type { Question } from './question.ts'
import { createSeenBefore, stepsOfExample } from './seen-before.ts'
import { cutPage, pageOf, placeOf } from './select.ts'

/** Processes of one fingerprint that one change reaches. */
const PROCESSES_MAX = 1_000

type Judged = Omit<GroupState, 'status'> & { readonly status: Exclude<wire.ExceptionGroup['status'], 'unresolved'> }

const isHidden = ({ status }: Judged) => status !== 'regressed'
const NO_STATES: Pick<GroupStates, 'list'> = { list: async () => [] }
const EVER = { fromNs: FIRST_NS, toNs: LAST_NS }

/** All throw StoreError, `list` also Problem `store_unavailable`. */
export function createGroupQuestions(exceptions: ExceptionSource, states: Pick<GroupStates, 'list'> = NO_STATES) {
  const seen = createSeenBefore(exceptions)
  async function judge({ account, signal }: Asker, known: readonly GroupState[]): Promise<Judged[]> {
    const resolved = known.filter(({ status }) => status === 'resolved')
    if (resolved.length === 0) return known as Judged[]
    const fromNs = BigInt(Math.min(...resolved.map(({ atUs }) => atUs))) * 1000n
    const since = await exceptions.findGroupSpans({ account, signal, ...EVER, fromNs, only: resolved })
    const lastUs = new Map(since.map((span) => [groupTie(span), Number(span.lastNs / 1000n)]))
    return known.map((state) => {
      const isBack = state.status === 'resolved' && (lastUs.get(groupTie(state)) ?? 0) > state.atUs
      return { ...state, status: isBack ? 'regressed' : state.status }
    })
  }

  /** None while the states cannot be read: then all exceptions count. */
  async function findHidden(asker: Asker): Promise<readonly GroupKey[]> {
    try {
      return (await judge(asker, await states.list(asker.account))).filter(isHidden)
    } catch (error) {
      if (error instanceof Problem) return []
      throw error
    }
  }

  async function countHidden(selection: ExceptionSelection, hidden: readonly Judged[]) {
    const decisions = new Map(hidden.map((group) => [groupTie(group), group]))
    const found = (await exceptions.findGroupSpans({ ...selection, only: hidden })).map(
      (span) => decisions.get(groupTie(span))!,
    )
    // a decision of 2.0 and its copy are one
    const count = (wanted: string) =>
      new Set(found.filter((it) => it.status === wanted).map(({ process, by, atUs }) => `${process} ${atUs} ${by}`))
        .size
    return { resolved: count('resolved'), ignored: count('ignored') }
  }

  return {
    /** For one question: without the exceptions of hidden groups, which are no trouble of a run. */
    troubleOf(asker: Asker): Pick<ExceptionSource, 'findExceptions' | 'findMoments'> {
      let found: ReturnType<typeof findHidden> | undefined
      const hidden = () => (found ??= findHidden(asker))
      return {
        findExceptions: async (q, page) => exceptions.findExceptions({ ...q, without: await hidden() }, page),
        findMoments: async (q) => exceptions.findMoments({ ...q, without: await hidden() }),
      }
    },

    async list(question: Question, selection: ExceptionSelection & Buckets) {
      const { fingerprint, status = fingerprint === undefined ? 'unresolved' : 'all', place, byCount } = question
      const page = { ...pageOf(question), byCount }
      const known = await states.list(selection.account)
      const judged = await judge(selection, known)
      const hidden = judged.filter(isHidden)
      const chosen: Partial<ExceptionSelection> =
        status === 'all'
          ? {}
          : status === 'unresolved'
            ? { without: hidden }
            : { only: judged.filter((group) => group.status === status) }
      const found = chosen.only?.length === 0 ? [] : await exceptions.groupExceptions({ ...selection, ...chosen }, page)
      const { items, next } = cutPage(found, question, placeOf)
      const asker = { account: selection.account, signal: selection.signal }
      const spans = await seen.spansOf(asker, items, EVER)
      const whole = await mapInTurns(items, (item, i) => ({ ...item, ...spans[i] }))
      const areNew = await seen.areNew(asker, whole, question.nowNs)
      const stateOf = new Map(judged.map((state) => [groupTie(state), state]))
      // one for all: a fingerprint of the current version is its hash
      const normalized = fingerprint !== undefined && items[0] && normalizeException(items[0].example)
      const answerOne = (group: (typeof whole)[number], i: number) => ({
        ...answerGroup(group),
        is_new: areNew[i]!,
        ...answerState(stateOf.get(groupTie(group))),
        ...answerAdopted(stateOf.get(groupTie(group)), known),
        ...(normalized !== false && normalized !== undefined && { normalized }),
      })
      const groups = await mapInTurns(whole, answerOne, stepsOfExample)
      const isCounted = status === 'unresolved' && place === undefined
      return { groups, next, ...(isCounted && { hidden: await countHidden(selection, hidden) }) }
    },
  }
}

interface ChangeGroupDeps {
  readonly exceptions: Pick<ExceptionSource, 'findGroupSpans'>
  readonly states: Omit<GroupStates, 'find'>
  nowUs(): number
  changed(account: string): void
}

export type ChangeGroup = ReturnType<typeof createChangeGroup>

/** Sets a group's status, in one process or in all. Rejects with `not_found`, `limit_reached`, `store_unavailable`. */
export function createChangeGroup({ exceptions, states, nowUs, changed }: ChangeGroupDeps) {
  return async (
    account: string,
    by: string,
    { fingerprint, process }: Pick<GroupKey, 'fingerprint'> & Partial<GroupKey>,
    status: wire.ChangeExceptionGroup['status'],
  ) => {
    const isChosen = (group: GroupKey) =>
      group.fingerprint === fingerprint && (process === undefined || group.process === process)
    const chosen = { account, ...EVER, fingerprint, process }
    const stored = await ask(exceptions.findGroupSpans({ ...chosen, maxRows: PROCESSES_MAX + 1 }))
    const all = await states.list(account)
    const known = all.filter(isChosen) // also of exceptions that are no longer stored
    const groups = [...new Map([...known, ...stored].map((group) => [groupTie(group), group])).values()]
    if (groups.length === 0) throw new Problem('not_found', 'The account has no exceptions of this group.')
    if (groups.length > PROCESSES_MAX)
      throw new Problem('limit_reached', `More than ${PROCESSES_MAX} processes have this group. Name a process.`)
    const keys = groups
      .map(({ fingerprint, process }) => ({ fingerprint, process }))
      .toSorted((a, b) => compare(a.process, b.process))
    const next = status === 'unresolved' ? undefined : { status, by, atUs: nowUs() }
    await (next === undefined
      ? // without the decision that was copied, which the next exception would copy again
        states.remove(account, [...keys, ...known.flatMap((state) => adoptedFrom(state, all) ?? [])])
      : states.put(
          account,
          keys.map((group) => ({ ...group, ...next })),
        ))
    changed(account)
    return keys.map((group) => ({ ...group, ...answerState(next) }))
  }
}

/** The wider group of 2.0 that the decision was made about. */
const answerAdopted = (state: Judged | undefined, known: readonly GroupState[]) => {
  const made = state && known.find((it) => groupTie(it) === groupTie(state))
  const from = made && adoptedFrom(made, known)
  return from === undefined ? {} : { status_of: from.fingerprint }
}

const answerState = (state: Pick<Judged, 'status' | 'by' | 'atUs'> | undefined) => ({
  status: state?.status ?? ('unresolved' as const),
  status_by: state?.by ?? null,
  status_at: state === undefined ? null : new Date(state.atUs / 1000).toISOString(),
})
