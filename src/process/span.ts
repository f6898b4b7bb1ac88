// Lengths of time as callers write them: a whole number and a unit.

const UNIT_NS = { s: 1n, m: 60n, h: 3600n, d: 86_400n, w: 604_800n } as const
const NS_PER_US = 1000n
export const NS_PER_S = 1_000_000_000n
const MAX_SPAN_NS = 36_500n * UNIT_NS.d * NS_PER_S

const lengthNs = (count: string, unit: string): bigint =>
  BigInt(count) * UNIT_NS[unit as keyof typeof UNIT_NS] * NS_PER_S

/** `10s`, `5m`, `1h`, `1d` in ns, from a second to 36,500 days; undefined for anything else. */
export function parseSpan(text: string): bigint | undefined {
  const [, count, unit] = /^([1-9]\d{0,9})([smhd])$/.exec(text) ?? []
  if (count === undefined || unit === undefined) return undefined
  const ns = lengthNs(count, unit)
  return ns <= MAX_SPAN_NS ? ns : undefined
}

/** A span in µs; a schema has validated it. */
export function spanUs(text: string): number {
  const ns = parseSpan(text)
  if (ns === undefined) throw new RangeError('not a span')
  return Number(ns / NS_PER_US)
}

/** `-90m`, `now-90m`: that long before `nowNs`, in ns since the epoch, maybe before it; undefined for anything else. */
export function parseAgo(text: string, nowNs: bigint): bigint | undefined {
  if (text === 'now') return nowNs
  const [, count, unit] = /^(?:now)?-(\d{1,10})([smhdw])$/.exec(text) ?? []
  return count === undefined || unit === undefined ? undefined : nowNs - lengthNs(count, unit)
}

/** Milliseconds since the epoch, as Grafana and JavaScript write a time, in ns; undefined for anything else. */
export const parseEpochMs = (text: string): bigint | undefined =>
  /^\d{12,13}$/.test(text) ? BigInt(text) * 1_000_000n : undefined
