// What goes wrong between Stint and ClickHouse, as text that may be logged: ClickHouse repeats rows and queries in its messages, so what it quotes is cut out.

/** `code` is ClickHouse's exception code; absent when the answer did not come from ClickHouse or there was none. */
export class ClickHouseFault extends Error {
  override readonly name = 'ClickHouseFault'

  constructor(
    message: string,
    readonly code: number | undefined,
    /** Something on the way refused the request for its size. */
    readonly tooLarge = false,
  ) {
    super(message)
  }
}

const MAX_TEXT = 300

/** From here on a message holds the query or a stack. */
const ECHO = /failed at position|: While executing|: while executing|In scope|Stack trace|\(version /

/** Messages about what was sent: all after the first clause may be a row or the query. */
const ECHOING_TYPES = /PARSE|SYNTAX|MISMATCH|INCORRECT|OVERFLOW|PARAMETER/

/** Told by shape: the client and chDB each have a ClickHouseError of their own. */
export function toFault(error: Error, password: string): ClickHouseFault {
  const { message, code, type } = error as Error & { code?: unknown; type?: unknown }
  if (typeof code === 'string' && /^\d+$/.test(code)) {
    const about = ECHOING_TYPES.test(String(type)) ? message.split(/[:'"`(]/, 1)[0] : message
    return new ClickHouseFault(clean(`${code} ${type ?? ''}: ${about}`, password), Number(code))
  }
  if (typeof code === 'string') return new ClickHouseFault(clean(`${code}: ${message}`, password), undefined)
  if (/timeout/i.test(message)) return new ClickHouseFault('no answer in time', undefined)
  if (/\b413\b|too large/i.test(message)) {
    return new ClickHouseFault('the request is too large for what is in front of ClickHouse', undefined, true)
  }
  return new ClickHouseFault(`an answer that is not ClickHouse's (${error.name})`, undefined)
}

function clean(text: string, password: string): string {
  const echo = text.search(ECHO)
  const own = (echo < 0 ? text : text.slice(0, echo)).replace(/'(?:[^'\\]|\\.)*('|$)|"(?:[^"\\]|\\.)*("|$)/gs, "'…'")
  const safe = password === '' ? own : own.replaceAll(password, '[password]')
  const flat = safe.replace(/\s+/g, ' ').trim()
  return flat.length > MAX_TEXT ? `${flat.slice(0, MAX_TEXT)}…` : flat
}
