// The checks of an account that are not judged at present, each with its reason.
import type { Unjudged } from '../../wire/alerts.ts'
import { toConditionRules } from '../conditions/conditions.ts'
import { iso, minute } from '../conditions/wording.ts'
import { concerned, type Gap } from '../evaluate/gaps.ts'
import type { WatchNode } from '../nodes/watch-node.ts'
import type { WatchStore } from '../storage/create-watch-store.ts'
import type { StoredWatch } from '../watch.ts'

export interface FindUnjudged {
  readonly account: string
  readonly store: Pick<WatchStore, 'watches'>
  readonly node: Pick<WatchNode, 'gaps' | 'unjudged' | 'silent'>
  nowUs(): number
}

/** The gaps of an account, of twins the first; those by silent nodes with what to do about each. */
export function gapsOf(account: string, node: Pick<WatchNode, 'gaps' | 'silent'>): Gap[] {
  const bySilence = node.silent().map(({ node: id, seenUs }) => ({
    missing: 'starts' as const,
    sinceUs: seenUs,
    reason:
      `node ${id} is silent and may hold starts that are not stored: start it, drain its DATA_DIR, or run ` +
      `\`stint node forget ${id}\``,
  }))
  const own = node.gaps().filter((gap) => gap.missing !== 'starts' && (gap.account ?? account) === account)
  const sorted = [...bySilence, ...own].sort((a, b) => a.sinceUs - b.sinceUs)
  return sorted.filter(
    ({ missing, reason }, i) => sorted.findIndex((it) => it.missing === missing && it.reason === reason) === i,
  )
}

export const isConcerned = ({ spec }: StoredWatch, gaps: readonly Gap[]): boolean => {
  const rules = gaps.length === 0 ? {} : toConditionRules(spec)
  return gaps.some(({ missing }) => concerned(rules, missing).length > 0)
}

export async function findUnjudged({ account, store, node, nowUs }: FindUnjudged): Promise<Unjudged[]> {
  const checks = node.unjudged().filter((check) => check.account === account)
  const gaps = gapsOf(account, node)
  if (checks.length === 0 && gaps.length === 0) return []
  const watches = await store.watches(account)
  const active = watches.filter(
    ({ spec }) => spec.paused_until === null || Date.parse(spec.paused_until) * 1000 <= nowUs(),
  )
  return active.flatMap(({ id, spec }): Unjudged[] => {
    const watch = { id, name: spec.name }
    const rules = toConditionRules(spec)
    const all = Object.keys(rules).length
    return [
      ...checks
        .filter((check) => check.watch === id)
        .map(({ condition, process, sinceUs, blind: { fromUs, toUs } }) => ({
          ...{ watch, condition, process, since: iso(sinceUs) },
          reason: `Stint was down between ${minute(fromUs)} and ${minute(toUs)}, when a start was due: it may be lost`,
        })),
      ...gaps.flatMap(({ missing, sinceUs, reason }): Unjudged[] => {
        const names = concerned(rules, missing)
        const since = iso(sinceUs)
        const text = `${reason.charAt(0).toUpperCase()}${reason.slice(1)}`
        const conditions = names.length === all && missing !== 'starts' ? [null] : names
        return conditions.map((condition) => ({ watch, condition, process: null, since, reason: text }))
      }),
    ]
  })
}
