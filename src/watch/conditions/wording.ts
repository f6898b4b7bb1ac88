// The pieces that the texts of alerts are made of.
import type { Downtime } from '../log/episode.ts'

/** `2026-11-21 03:10 UTC`, or the name of another zone; with seconds unless they are zero. */
export const minute = (us: number, tz = 'UTC'): string => `${local(us, tz).replace(/:00$/, '')} ${tz}`

/**
 * `or its end was lost around a downtime of Stint, 2026-11-21 03:10:10 UTC to 2026-11-21 03:10:44 UTC`, with the time
 * in which callers retry; `or node 2, silent since 2026-11-21 03:00 UTC, holds its start`; `or its end was refused: the
 * account was closed to events, 2026-11-21 03:10 UTC to 2026-11-21 04:10 UTC`.
 */
export function orLost(
  { fromUs, toUs, node, account, isUnread }: Downtime,
  what: 'its start' | 'its end' | 'their ends',
  tz = 'UTC',
): string {
  if (isUnread) return `or ${what} lies before what Stint has read: the store does not answer`
  if (node !== undefined) return `or node ${node}, silent since ${minute(fromUs, tz)}, holds ${what}`
  const was = what === 'their ends' ? 'were' : 'was'
  const stretch = `${minute(fromUs, tz)} to ${minute(toUs, tz)}`
  if (account !== undefined) return `or ${what} ${was} refused: the account was closed to events, ${stretch}`
  return `or ${what} ${was} lost around a downtime of Stint, ${stretch}`
}

/** `2026-11-21 03:10:00`; Sweden writes its times like this. */
const local = (us: number, timeZone: string): string =>
  new Date(Math.floor(us / 1000)).toLocaleString('sv', { timeZone })
export const iso = (us: number): string => new Date(Math.floor(us / 1000)).toISOString()

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const

/** The two largest units, such as `1 h 12 min`; below ten seconds with a decimal. */
export function formatSpan(us: number): string {
  const seconds = us / 1e6
  if (seconds < 10) return `${Math.round(seconds * 10) / 10} s`
  let rest = Math.round(seconds)
  const parts: string[] = []
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(`${count} ${unit}`)
    if (parts.length > 0 && (parts.length === 2 || count === 0)) break
  }
  return parts.slice(0, 2).join(' ')
}

export const subjectName = ({ process, meta }: { readonly process: string; readonly meta: string | null }): string =>
  meta === null ? process : `${process} (${meta})`
