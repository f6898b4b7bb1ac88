// What all questions have in common: which account, process and meta, and time, which is exact to the nanosecond both ways.
import { parseRfc3339 } from '../../event/rfc3339.ts'
import { formatNs } from '../../event/stamp.ts'
import type { Selection } from '../source.ts'
import { type FluxText, flux, fluxDateTime, fluxExpression, fluxInteger } from './client.ts'

/** Conditions on `r`'s tags. `r.meta == ""` would match nothing: a series without meta lacks the tag. */
export function whereTags({ account, process, meta }: Pick<Selection, 'account' | 'process' | 'meta'>): FluxText {
  const ofAccount = flux`r.account == ${fluxText(account)}`
  const ofProcess = process === undefined ? ofAccount : flux`${ofAccount} and r.process == ${fluxText(process)}`
  if (meta === undefined) return ofProcess
  return meta === '' ? flux`${ofProcess} and not exists r.meta` : flux`${ofProcess} and r.meta == ${fluxText(meta)}`
}

export function whereMetrics({ name, ...tags }: Selection & { readonly name?: string }): FluxText {
  const metrics = flux`r._measurement == "metric" and ${whereTags(tags)}`
  return name === undefined ? metrics : flux`${metrics} and r.name == ${fluxText(name)}`
}

/** A string literal of any text. The template tag escapes all but NUL, where Flux would end the query. */
const fluxText = (text: string): FluxText => fluxExpression(String(flux`${text}`).replaceAll('\0', '\\x00'))

export const fluxTime = (ns: bigint): FluxText => fluxDateTime(formatNs(ns))
export const fluxNs = (ns: bigint): FluxText => fluxInteger(ns)

/** Of a column of times. */
export const parseFluxTime = (text: string): bigint => parseRfc3339(text)!
