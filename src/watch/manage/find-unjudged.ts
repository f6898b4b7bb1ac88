// The checks of an account that are not judged at present, each with its reason.
import type { Unjudged } from '../../wire/alerts.ts'
import { minute } from '../conditions/wording.ts'
import type { WatchNode } from '../nodes/watch-node.ts'
import type { WatchStore } from '../storage/watch-store.ts'

export interface FindUnjudged {
  readonly account: string
  readonly store: Pick<WatchStore, 'watches'>
  readonly node: Pick<WatchNode, 'unjudged' | 'silent'>
  isUnknown(account: string): boolean
  nowUs(): number
}

const iso = (us: number) => new Date(us / 1000).toISOString()

export async function findUnjudged({ account, store, node, isUnknown, nowUs }: FindUnjudged): Promise<Unjudged[]> {
  const checks = node.unjudged().filter((check) => check.account === account)
  const silent = node.silent()
  const isAll = isUnknown(account)
  if (checks.length === 0 && silent.length === 0 && !isAll) return []
  const watches = await store.watches(account)
  const active = watches.filter(
    ({ spec }) => spec.paused_until === null || Date.parse(spec.paused_until) * 1000 <= nowUs(),
  )
  return active.flatMap(({ id, spec }): Unjudged[] => {
    const watch = { id, name: spec.name }
    const own = checks.filter((check) => check.watch === id)
    return [
      ...own.map(({ condition, process, sinceUs, blind }) => ({
        ...{ watch, condition, process, since: iso(sinceUs) },
        reason:
          `Stint was down from ${minute(blind.fromUs)} to ${minute(blind.toUs)}, when a start was due: it may be ` +
          'lost',
      })),
      ...(spec.late === null ? [] : silent).map(({ node: id, seenUs }) => ({
        ...{ watch, condition: 'late' as const, process: null, since: iso(seenUs) },
        reason:
          `Node ${id} is silent and may hold starts that are not stored: start it, drain its DATA_DIR, or run ` +
          `\`stint node forget ${id}\``,
      })),
      ...(isAll
        ? [
            {
              ...{ watch, condition: null, process: null, since: iso(nowUs()) },
              reason: 'A store does not answer, or accepted events wait to be stored',
            },
          ]
        : []),
    ]
  })
}
