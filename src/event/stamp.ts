// A stamp identifies an event in its store, in nanoseconds since the epoch. Without its digits for uniqueness it is
// the event's time. A JS number cannot hold nanoseconds: µs are the number, the last three digits are kept beside it.
//
//   last digit   lane                             time          unique by
//   even         0: stamped at arrival            floor to µs   4·NODE_ID in three digits, + 2 in a ping's later ones
//   1, 5, 9      1: own time with µs              floor to µs   hash in two digits (and in the choice of the last)
//   3            1: own time of a whole ms        floor to ms   hash in five digits
//   7            1: own time of a whole second    floor to s    hash in eight digits

export interface Stamp {
  /** µs since the epoch. */
  readonly us: number
  /** The last three digits of the nanoseconds, 0 … 999. */
  readonly sub: number
}

/** The event's time in µs since the epoch: what people see, sort and measure by. Several events may share it. */
export function timeUs({ us, sub }: Stamp): number {
  const digit = sub % 10
  if (digit === 3) return us - (us % 1000)
  return digit === 7 ? us - (us % 1_000_000) : us
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

/** The event's time, RFC 3339 with nine digits. */
export const formatTime = (stamp: Stamp): string => formatStamp({ us: timeUs(stamp), sub: 0 })
