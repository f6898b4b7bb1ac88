// The texts of settings → their values; undefined for an invalid text.
import { isIP } from 'node:net'
import type { Secret } from './secret.ts'

export const DAY_US = 86_400_000_000
/** Ten years. */
const MAX_SPAN_DAYS = 3660
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
function parseSpanUs(text: string): number | undefined {
  const match = /^(\d{1,9})([smhd])$/.exec(text)
  if (match === null) return undefined
  const us = Number(match[1]) * UNITS_US[match[2]!]!
  return us > 0 && us <= MAX_SPAN_DAYS * DAY_US ? us : undefined
}

function parseBytes(text: string): number | undefined {
  const match = /^(\d{1,15})\s*(KiB|MiB|GiB|TiB|)$/.exec(text)
  if (match === null) return undefined
  const bytes = Number(match[1]) * UNITS_BYTES[match[2]!]!
  return bytes > 0 && Number.isSafeInteger(bytes) ? bytes : undefined
}

/** @clickhouse/client takes any other part of a URL for settings and warns about it on standard error. */
function isPlainHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return /^https?:$/.test(protocol) && username + password + search + hash === ''
}

export function isSmtpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  return /^smtps?:$/.test(url.protocol) && url.hostname !== '' && hasPlainCredentials(url) && isInsecureOrPlain(url)
}

/** `?insecure=true` gives up STARTTLS, so it is refused where a password would cross the network. */
const isInsecureOrPlain = ({ search, protocol, username }: URL): boolean =>
  search === '' || (search === '?insecure=true' && protocol === 'smtp:' && username === '')

/** With or without a name before it. */
export const isMailAddress = (text: string): boolean => /^[^\r\n]*[^\s@<]+@[^\s@>]+>?$/.test(text)

export function isPostgresUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  const sslMode = url.searchParams.get('sslmode') ?? 'disable'
  return (
    /^postgres(ql)?:$/.test(url.protocol) &&
    url.hostname !== '' &&
    url.pathname.length > 1 &&
    hasPlainCredentials(url) &&
    /^(disable|allow|prefer|require|verify-(ca|full))$/.test(sslMode)
  )
}

/** A password with a bare % cannot be decoded: it must be written as %25. */
function hasPlainCredentials({ username, password }: URL): boolean {
  try {
    decodeURIComponent(`${username}:${password}`)
    return true
  } catch {
    return false
  }
}

export function parseTrustProxy(text: string): number | undefined {
  if (text === 'true') return 1
  if (text === 'false') return 0
  return /^\d{1,2}$/.test(text) ? Number(text) : undefined
}

/** One part of OIDC_ROLES: who has the value in the claim gets the role in the operator's account. */
export interface RoleRule {
  /** A name, or a path such as `realm_access.roles`. */
  readonly claim: string
  readonly value: string
  readonly role: (typeof GIVEN_ROLES)[number]
}

export const GIVEN_ROLES = ['viewer', 'member', 'owner'] as const

/** `groups:stint-admins=owner,groups:staff=viewer`; undefined when a part is malformed. */
export function parseRoleRules(text: string): RoleRule[] | undefined {
  const rules = text.split(',').map((part) => {
    const [, claim, value, role] = /^([^:]+):(.+)=(\w+)$/.exec(part.trim()) ?? []
    const given = GIVEN_ROLES.find((name) => name === role)
    return claim === undefined || value === undefined || given === undefined ? undefined : { claim, value, role: given }
  })
  return rules.every((rule) => rule !== undefined) ? rules : undefined
}

/** Of a setting or a URL, which has brackets around an IPv6 address. */
export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/.test(host)

/** It listens on every address, and none can connect to it. */
export const isWildcard = (host: string): boolean => ['0.0.0.0', '::'].includes(host)

/**
 * An issuer (OpenID Connect Discovery 1.0, 3): https, or http on a loopback address; no credentials, query, fragment.
 */
export function isIssuer(text: string): boolean {
  if (!isPlainHttpUrl(text)) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || isLoopback(hostname)
}

/** How a text becomes a value. */
export interface Kind<T> {
  /** Undefined for an invalid text. */
  readonly parse: (text: string) => T | undefined
  /** Completes "must be …". */
  readonly rule: string
  /** The text may hold a password and is never printed. */
  readonly isHidden?: boolean
}

export const kind = <T>(parse: (text: string) => T | undefined, rule: string): Kind<T> => ({ parse, rule })
export const matching = (isValid: (text: string) => boolean, rule: string): Kind<string> =>
  kind((text) => (isValid(text) ? text : undefined), rule)
export const hidden = <T>(it: Kind<T>): Kind<T> => ({ ...it, isHidden: true })
/** Its value, from a file, is what tells the current one: see secret.ts. */
export const secret = (it: Kind<string>) => ({ ...(it as Kind<Secret>), isHidden: true, isSecret: true })

/** The largest number of fifteen digits. */
export const MANY = 999_999_999_999_999
export const ESCAPE = 'write a % of the password as %25, and @ : / ? # likewise'

export const anyText = matching(() => true, '')
export const integer = (min: number, max: number) =>
  kind(
    (text) => (/^\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined),
    `a whole number from ${min} to ${max}`,
  )
export const oneOf = <T extends string>(...allowed: T[]) =>
  kind((text) => allowed.find((value) => value === text), `one of ${allowed.join(', ')}`)
export const isTrue = kind(
  (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
  'one of true, false',
)
export const span = kind(parseSpanUs, `a time span such as 90s, 30m, 24h or 7d, from 1s to ${MAX_SPAN_DAYS}d`)
const MAX_DELAY_US = 60_000_000
export const delay = kind((text) => {
  const us = text === '0' ? 0 : parseSpanUs(text)
  return us !== undefined && us <= MAX_DELAY_US ? us : undefined
}, '0 or a time span up to 60s, such as 5s')
export const bytes = kind(
  parseBytes,
  'a size such as 500MiB, 10GiB or a number of bytes, more than 0 and less than 8192TiB',
)
export const bytesOrNone = kind(
  (text) => (text === '0' ? 0 : parseBytes(text)),
  '0 or a size such as 500MiB, 10GiB or a number of bytes, less than 8192TiB',
)
/** `credentials`: where they belong. Without slashes at the end. */
export const address = (credentials = '') =>
  hidden(
    kind(
      (text) => (isPlainHttpUrl(text) ? text.replace(/\/+$/, '') : undefined),
      `an http or https URL without user, password, query and fragment${credentials}`,
    ),
  )
export const header = matching(
  (text) => /^[ -~]*$/.test(text),
  'one line of printable ASCII, because it is sent in a header',
)
/** The empty text is an empty list. */
export const list = <T>(parse: (text: string) => readonly T[] | undefined, rule: string) =>
  kind((text) => (text === '' ? [] : parse(text)), rule)
