// What is not judged at present, and why: everything while the judge is behind, single checks after a downtime.

import { createMatch } from '../../process/process-pattern.ts'
import type { Unjudged } from '../../wire/alerts.ts'
import { iso, minute } from '../conditions/wording.ts'
import type { Waiting } from '../log/judge-interface.ts'
import type { WatchNode } from '../nodes/watch-node.ts'
import type { WatchStore } from '../storage/create-watch-store.ts'
import { pausedUntilUs, type StoredWatch } from '../watch.ts'

/** A judge that is less behind is not noticed. */
const BEHIND_US = 60e6
const SHOWN_MAX = 200

type Judging = Pick<WatchNode, 'judgedUs' | 'waiting' | 'pending' | 'unjudged'>

export const isBehind = (node: Judging, nowUs: number): boolean =>
  node.waiting() === undefined || nowUs - node.judgedUs() > BEHIND_US

/**
 * Is the state of a watch unknown? Then the judge is behind, a silent node may hold what the watch waits for, or not
 * all of its processes are judged.
 */
export const isUnknown = (node: Judging, { id, account, spec }: StoredWatch, nowUs: number): boolean =>
  isBehind(node, nowUs) ||
  node.waiting()!.some(({ watch, lost }) => watch === id && lost.node !== undefined) ||
  node.unjudged(account).some(createMatch(spec.process))

interface FindUnjudged {
  readonly account: string
  /** Only of this process. */
  readonly process?: string | undefined
  readonly store: Pick<WatchStore, 'watches'>
  readonly node: Judging
  /** When the operator suspended the account; undefined: it is not. */
  readonly suspendedUs?: number | undefined
  nowUs(): number
}

export async function findUnjudged({
  account,
  process,
  store,
  node,
  suspendedUs,
  nowUs,
}: FindUnjudged): Promise<Unjudged[]> {
  const now = nowUs()
  const isAsked = (own: string) => process === undefined || own === process
  const waiting = (node.waiting() ?? []).filter((it) => it.account === account && isAsked(it.process))
  const dropped = node.unjudged(account).filter(isAsked)
  const gaps =
    suspendedUs === undefined
      ? gapsOf(node, now)
      : [{ sinceUs: suspendedUs, reason: 'The operator suspended the account' }]
  const pending = node.pending(account)
  const isPending = pending !== undefined && now - pending.sinceUs > BEHIND_US
  if (waiting.length + dropped.length + gaps.length === 0 && !isPending) return []
  const watches = await store.watches(account)
  const active = watches.filter(
    ({ spec }) => pausedUntilUs(spec) <= now && (process === undefined || createMatch(spec.process)(process)),
  )
  return active
    .flatMap(({ id, spec }): Unjudged[] => {
      const watch = { id, name: spec.name }
      const own = dropped.filter(createMatch(spec.process))
      const all = own.length > 0 ? [...gaps, { sinceUs: now, reason: limitOf(own) }] : gaps
      return [
        ...all.map(({ sinceUs, reason }) => ({ watch, condition: null, process: null, since: iso(sinceUs), reason })),
        ...(isPending && pending.watches.has(id) ? READ_BY.filter((it) => readsPast[it](spec)) : []).map(
          (condition) => ({
            watch,
            condition,
            process: null,
            since: iso(pending!.sinceUs),
            reason: UNREAD,
          }),
        ),
        ...waiting
          .filter((it) => it.watch === id)
          .map((it) => ({
            watch,
            condition: it.condition,
            process: it.process,
            since: iso(it.sinceUs),
            reason: reasonOf(it),
          })),
      ]
    })
    .slice(0, SHOWN_MAX)
}

/** Conditions that are judged without the runs of before, until these are known; `late` waits for them. */
const readsPast = {
  slow: ({ slow }: StoredWatch['spec']) => slow !== null,
  failed: ({ failed }: StoredWatch['spec']) => (failed?.after ?? 1) > 1,
}
const READ_BY = ['slow', 'failed'] as const
const UNREAD = 'Earlier runs are not known yet: their store does not answer'

interface Gap {
  readonly sinceUs: number
  readonly reason: string
}

const limitOf = (processes: readonly string[]): string =>
  `Series limit of the account reached: not judged are ${processes.slice(0, 3).join(', ')}` +
  (processes.length > 3 ? ' and others' : '')

/** Why nothing is judged at present. */
function gapsOf(node: Judging, nowUs: number): Gap[] {
  const gaps: Gap[] = []
  if (node.waiting() === undefined)
    gaps.push({ sinceUs: node.judgedUs(), reason: 'No node judges the watches at present' })
  else if (isBehind(node, nowUs))
    gaps.push({
      sinceUs: node.judgedUs(),
      reason: 'The judge is behind: its database does not answer, or there is more than it can judge',
    })
  return gaps
}

function reasonOf({ condition, judgedAtUs, lost }: Waiting): string {
  const what = condition === 'late' ? 'a start was due' : 'its run may have ended'
  if (lost.isUnread) return `${UNREAD}; judged at ${minute(judgedAtUs)}`
  const who =
    lost.account !== undefined
      ? `The account was closed to events, ${minute(lost.fromUs)} to ${minute(lost.toUs)}, when ${what}`
      : lost.node === undefined
        ? `A downtime of Stint, ${minute(lost.fromUs)} to ${minute(lost.toUs)}, when ${what}`
        : `Node ${lost.node}, silent since ${minute(lost.fromUs)}, may hold that ${what}`
  return `${who}; judged at ${minute(judgedAtUs)}`
}
