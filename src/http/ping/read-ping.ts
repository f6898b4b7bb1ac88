// Reads a ping address. Two forms: `/ping/KEY/PROCESS[/signal]`, and Healthchecks' own of a UUID, whose key says the
// process: `/ping/UUID[/signal]`, `/UUID[/signal]`.
export type Signal = 'start' | 'success' | 'fail' | 'log'

export interface Ping {
  readonly token: string
  /** Undefined: the one of the key. */
  readonly process: string | undefined
  /** Undefined: the address names none. */
  readonly signal: Signal | undefined
  readonly exitCode: number | undefined
}

const PREFIX = '/ping/'
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const IS_UUID = new RegExp(`^${UUID}$`, 'i')
const AT_ROOT = new RegExp(`^/${UUID}(?:/[^/]+)?/?$`, 'i')

const SIGNALS = new Map<string | undefined, Signal | undefined>([
  [undefined, undefined],
  ['start', 'start'],
  ['fail', 'fail'],
  ['log', 'log'],
])

const FORM = 'a ping address is /ping/TOKEN/PROCESS, or /UUID, with start, fail, log or an exit code behind it'

/** Is it one of Healthchecks' addresses without `/ping`? */
export const isPingAtRoot = (pathname: string): boolean => AT_ROOT.test(pathname)

/** The address without its token, for the log. */
export const hidePingToken = (pathname: string): string =>
  pathname.replace(/^\/ping\/[^/]+/, '/ping/…').replace(new RegExp(`^/${UUID}`, 'i'), '/…')

/** `pathname` as it was sent. A string says which part is wrong. */
export function readPing(pathname: string): Ping | string {
  const path = (pathname.startsWith(PREFIX) ? pathname.slice(PREFIX.length) : pathname.slice(1)).replace(
    /(?<=.)\/$/,
    '',
  )
  const [token = '', ...rest] = path.split('/')
  if (token === '') return `The token is missing: ${FORM}.`
  if (IS_UUID.test(token)) return readSignal({ token: token.toLowerCase(), process: undefined }, rest)
  const [slug = '', ...more] = rest
  const process = decode(slug)
  if (process === undefined) return `The process is not percent-encoded UTF-8: ${FORM}.`
  if (process === '') return `The process is missing: ${FORM}.`
  return readSignal({ token, process }, more)
}

function readSignal(of: Pick<Ping, 'token' | 'process'>, [last, ...more]: readonly string[]): Ping | string {
  if (more.length > 0) return `There is a / too many; one in a process is written %2F: ${FORM}.`
  if (SIGNALS.has(last)) return { ...of, signal: SIGNALS.get(last), exitCode: undefined }
  if (last === undefined || !/^\d{1,3}$/.test(last) || Number(last) > 255)
    return `The part behind the process is not start, fail, log or an exit code from 0 to 255: ${FORM}.`
  const exitCode = Number(last)
  return { ...of, signal: exitCode === 0 ? 'success' : 'fail', exitCode }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
