// Parts of all questions: conditions on account, process and meta, and times, exact to the ns in both directions.
import { parseRfc3339 } from '../../event/own-time.ts'
import { formatNs, parseStampNs, timeUs } from '../../event/stamp.ts'
import { STAMP_REACH_NS } from '../order.ts'
import type { Names, Selection } from '../source.ts'
import { type FluxText, flux, fluxDateTime, fluxExpression, fluxInteger, type InfluxClient } from './client.ts'

const NS_PER_S = 1_000_000_000n

/** The points of a range of stamps that meet a condition on `r`, as a table per series. */
export const pointsIn = ({ bucket }: Pick<InfluxClient, 'bucket'>, start: FluxText, stop: FluxText, where: FluxText) =>
  flux`from(bucket: ${bucket})
  |> range(start: ${start}, stop: ${stop})
  |> filter(fn: (r) => ${where})`

/** Conditions on `r`'s tags. `r.meta == ""` would match nothing: a series without meta lacks the tag. */
export function whereTags({ account, process, meta }: Pick<Selection, 'account' | 'process' | 'meta'>): FluxText {
  const ofAccount = flux`r.account == ${fluxText(account)}`
  const ofProcess = process === undefined ? ofAccount : flux`${ofAccount} and ${isOneOf('process', process)}`
  if (meta === undefined) return ofProcess
  return meta === '' ? flux`${ofProcess} and not exists r.meta` : flux`${ofProcess} and r.meta == ${fluxText(meta)}`
}

/** Whether a tag is one of these. No tag is empty: `== ""` selects nothing and, unlike `false`, is pushed down. */
export function isOneOf(tag: 'process' | 'name', names: Names): FluxText {
  const all = typeof names === 'string' ? [names] : names
  const column = fluxExpression(`r.${tag}`)
  if (all.length === 0) return flux`${column} == ""`
  return fluxExpression(`(${all.map((name) => flux`${column} == ${fluxText(name)}`).join(' or ')})`)
}

/** A string literal of any text. The template tag escapes all but NUL, where Flux would end the query. */
export const fluxText = (text: string): FluxText => fluxExpression(String(flux`${text}`).replaceAll('\0', '\\x00'))

export const fluxTime = (ns: bigint): FluxText => fluxDateTime(formatNs(ns))
export const fluxNs = (ns: bigint): FluxText => fluxInteger(ns)

/** Parses a value of a time column. */
export const parseFluxTime = (text: string): bigint => parseRfc3339(text)!

/** The event's time of a stamp. */
export const timeNs = (stampNs: bigint): bigint => BigInt(timeUs(parseStampNs(stampNs))) * 1000n

export const floorSecond = (ns: bigint): bigint => ns - (ns % NS_PER_S)
export const ceilSecond = (ns: bigint): bigint => floorSecond(ns + NS_PER_S - 1n)

/** The end of a range that contains the stamp of every event whose time is before `ns`. */
export const behindStamps = (ns: bigint): bigint => ns + STAMP_REACH_NS

/** A sum may leave the range of doubles. */
export function toFloat(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY
  return text === '-Inf' ? Number.NEGATIVE_INFINITY : Number(text)
}
