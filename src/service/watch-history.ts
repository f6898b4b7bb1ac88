// The stores as the watches ask them: times in µs, in the turns of questions.
import type { Accounts } from '../account/accounts.ts'
import { ask, type Desk } from '../query/desk.ts'
import { MAX_ROWS } from '../query/limits.ts'
import type { Stores } from '../store/open-stores.ts'
import type { PointSource } from '../store/source.ts'
import type { MarkSource } from '../watch/engine/seed.ts'
import type { HistoryQuestion, WatchHistory } from '../watch/manage/preview-watch.ts'

const toNs = (us: number): bigint => BigInt(Math.round(us)) * 1000n
const toUs = (ns: bigint): number => Number(ns / 1000n)

export const createMarkSource = (points: Pick<PointSource, 'findMarks'>): MarkSource => ({
  async findMarks({ account, fromUs, toUs: untilUs, processes, perSeries, maxRows }) {
    const range = { account, fromNs: toNs(fromUs), toNs: toNs(untilUs) }
    const rows = await points.findMarks({ ...range, maxRows, process: processes, perSeries })
    return rows.map(({ process, meta, uid, mark, ns }) => ({ process, meta, uid, mark, atUs: toUs(ns) }))
  },
})

export function createWatchHistory(
  { points, exceptions }: Pick<Stores, 'points' | 'exceptions'>,
  { groupStates }: Pick<Accounts, 'groupStates'>,
  desk: Desk,
): WatchHistory {
  const select = ({ account, fromUs, toUs: untilUs, processes, meta, signal }: HistoryQuestion) => ({
    account,
    signal,
    fromNs: toNs(fromUs),
    toNs: toNs(untilUs),
    process: processes,
    ...(meta !== undefined && { meta }),
  })
  const marks = (signal: AbortSignal) => createMarkSource({ findMarks: (q) => ask(points.findMarks({ ...q, signal })) })
  return {
    inTurn: (account, work) => desk(account, { lane: 'preview' }, work),
    async findProcesses({ account, fromUs, toUs: untilUs, signal }) {
      const range = { account, signal, fromNs: toNs(fromUs), toNs: toNs(untilUs), maxRows: MAX_ROWS }
      return (await ask(points.findPointProcesses(range))).map(({ process }) => process)
    },
    findMarks: ({ signal, ...q }) => marks(signal).findMarks(q),
    async findPoints({ name, maxRows, ...q }) {
      const rows = await ask(points.findMetrics({ ...select({ ...q, maxRows }), name }, { limit: maxRows }))
      return rows.map(({ process, meta, uid, atNs, value }) => ({ process, meta, uid, atUs: toUs(atNs), value }))
    },
    async findExceptions({ maxRows, ...q }) {
      const ignored = (await groupStates.list(q.account)).filter(({ status }) => status === 'ignored')
      const all = { ...select({ ...q, maxRows }), without: ignored, limitEach: maxRows, limit: maxRows }
      const rows = await ask(exceptions.findMoments(all))
      return rows.map(({ process, meta, uid, atNs }) => ({ process, meta, uid, atUs: toUs(atNs) }))
    },
  }
}
