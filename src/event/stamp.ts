// A stamp is the event's time and its identity: µs since the epoch × 1000 + 2·NODE_ID + lane, in nanoseconds.
// The nanoseconds do not fit a JS number, so the µs are kept as the number and the last three digits beside it.

export interface Stamp {
  /** µs since the epoch. */
  readonly us: number
  /** 2·NODE_ID + lane, 0 … 999; lane 0 = stamped at arrival, lane 1 = the event brought its own time. */
  readonly sub: number
}

const digits3 = Array.from({ length: 1000 }, (_, i) => String(i).padStart(3, '0'))

/** Nanoseconds since the epoch as a decimal string. */
export const formatStampNs = ({ us, sub }: Stamp): string => us + digits3[sub]!

/** The reverse of `formatStampNs`, also of its number. */
export function parseStampNs(ns: string | bigint): Stamp {
  const n = BigInt(ns)
  return { us: Number(n / 1000n), sub: Number(n % 1000n) }
}

let second = Number.NaN
let prefix = ''

/** RFC 3339 in UTC with nine digits, `2026-11-20T21:52:42.171920042Z`. */
export function formatStamp({ us, sub }: Stamp): string {
  const s = Math.floor(us / 1e6)
  if (s !== second) {
    prefix = new Date(s * 1000).toISOString().slice(0, 20)
    second = s
  }
  const micros = us - s * 1e6
  const ms = Math.floor(micros / 1000)
  return `${prefix}${digits3[ms]}${digits3[micros - ms * 1000]}${digits3[sub]}Z`
}

/** The same for nanoseconds since the epoch. */
export const formatNs = (ns: bigint): string => formatStamp(parseStampNs(ns))
