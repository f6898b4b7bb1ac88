// The texts of settings → their values; undefined for an invalid text.
import { isIP } from 'node:net'

export const DAY_US = 86_400_000_000
/** Ten years. */
export const MAX_SPAN_DAYS = 3660
const UNITS_US: Record<string, number> = { s: 1e6, m: 60e6, h: 3600e6, d: DAY_US }
const UNITS_BYTES: Record<string, number> = { '': 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 }

const HOST_LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i

/** A name whose last label is a number would be parsed as an address. */
export function parseHost(text: string): string | undefined {
  if (isIP(text) !== 0) return text
  const labels = text.replace(/\.$/, '').split('.')
  const isName = text.length <= 253 && labels.every((label) => HOST_LABEL.test(label)) && !/^\d+$/.test(labels.at(-1)!)
  return isName ? text : undefined
}

/** Every name as the Host header has it: lower case, IPv6 addresses in brackets. */
export function parseHosts(text: string): readonly string[] | undefined {
  const hosts = text.split(',').map((host) => parseHost(host.trim())?.toLowerCase().replace(/\.$/, ''))
  const isGiven = (host: string | undefined): host is string => host !== undefined
  return hosts.every(isGiven) ? hosts.map((host) => (host.includes(':') ? `[${host}]` : host)) : undefined
}

/** `90s`, `30m`, `24h`, `7d` in µs; more than zero, at most ten years. */
export function parseSpanUs(text: string): number | undefined {
  const match = /^(\d{1,9})([smhd])$/.exec(text)
  if (match === null) return undefined
  const us = Number(match[1]) * UNITS_US[match[2]!]!
  return us > 0 && us <= MAX_SPAN_DAYS * DAY_US ? us : undefined
}

export function parseBytes(text: string): number | undefined {
  const match = /^(\d{1,15})\s*(KiB|MiB|GiB|TiB|)$/.exec(text)
  if (match === null) return undefined
  const bytes = Number(match[1]) * UNITS_BYTES[match[2]!]!
  return bytes > 0 && Number.isSafeInteger(bytes) ? bytes : undefined
}

/** @clickhouse/client takes any other part of a URL for settings and warns about it on standard error. */
export function isPlainHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return /^https?:$/.test(protocol) && username + password + search + hash === ''
}

export function isSmtpUrl(text: string): boolean {
  return URL.canParse(text) && /^smtps?:$/.test(new URL(text).protocol) && new URL(text).hostname !== ''
}

/** Its value is never printed: it holds a password. */
export function isPostgresUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, pathname } = new URL(text)
  return /^postgres(ql)?:$/.test(protocol) && hostname !== '' && pathname.length > 1
}

export function parseTrustProxy(text: string): number | undefined {
  if (text === 'true') return 1
  if (text === 'false') return 0
  return /^\d{1,2}$/.test(text) ? Number(text) : undefined
}
