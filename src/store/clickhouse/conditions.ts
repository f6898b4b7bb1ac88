// A selection as SQL: everything a caller chose is a bound parameter, and the account is always one of them.
// Times travel as Int64 nanoseconds in both directions, as text: no JS number holds them.
import { FIRST_NS, LAST_NS } from '../marks-window.ts'
import type { Page, Selection } from '../source.ts'
import type { Params } from './client.ts'

export interface Conditions {
  /** To be joined by AND. */
  readonly where: readonly string[]
  readonly params: Params
}

/** Which series: the columns that the sorting keys begin with. */
export function seriesOf({ account, process, meta, uid }: Selection & { readonly uid?: string }): Conditions {
  const chosen = {
    account,
    ...(process !== undefined && { process }),
    ...(meta !== undefined && { meta }),
    ...(uid !== undefined && { uid }),
  }
  return { where: Object.keys(chosen).map((column) => `${column} = {${column}:String}`), params: chosen }
}

/** Which series and when. */
export function selectionOf(q: Selection): Conditions {
  const { where, params } = seriesOf(q)
  return {
    where: [...where, `at >= ${timeParam('from')}`, `at < ${timeParam('to')}`],
    params: { ...params, from: toInt64(q.fromNs), to: toInt64(q.toNs) },
  }
}

/** Adds an equality for a value that may be absent. */
export function withEqual({ where, params }: Conditions, column: string, value: string | undefined): Conditions {
  if (value === undefined) return { where, params }
  return { where: [...where, `${column} = {${column}:String}`], params: { ...params, [column]: value } }
}

/** Adds what lies after the page's place in an order of newest first, within a stamp by `tie`. */
export function withPlace({ where, params }: Conditions, { after, limit }: Page, tie?: string): Conditions {
  if (after === undefined) return { where, params: { ...params, limit } }
  const place = { ...params, limit, after: toInt64(after.ns) }
  const before = `at < ${timeParam('after')}`
  if (tie === undefined || after.name === undefined) return { where: [...where, before], params: place }
  return {
    where: [...where, `at <= ${timeParam('after')}`, `(${before} OR ${tie} > {after_tie:String})`],
    params: { ...place, after_tie: after.name },
  }
}

/** A bound moment as DateTime64(9). */
const timeParam = (name: string): string => `fromUnixTimestamp64Nano({${name}:Int64}, 'UTC')`

/** A DateTime64(9) as text of its nanoseconds. */
export const nsText = (at: string): string => `toString(toUnixTimestamp64Nano(${at}))`

/** For `{name:Int64}`; a moment that DateTime64(9) cannot hold becomes the nearest that it can. */
export const toInt64 = (ns: bigint): string => String(ns < FIRST_NS ? FIRST_NS : ns > LAST_NS ? LAST_NS : ns)

/** For an answer without pages, behind its ORDER BY. */
export const limitOf = ({ maxRows }: Selection): string =>
  maxRows === undefined ? '' : `\nLIMIT ${Math.trunc(maxRows)}`
