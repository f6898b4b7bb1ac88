// The meaning of an answer of /v1/batch for each event of the request.
export interface Answer {
  /** 0: none came, and `text` says why. */
  readonly status: number
  /** 0 when the server named no time. */
  readonly retryAfterMs: number
  readonly text: string
  /** How far the clock of this host is ahead of the server's; undefined if the answer does not show it. */
  readonly aheadMs?: number | undefined
}

export const REFUSED = 'connection refused'
/** Node's code of an error → the words for it. */
export const NO_ANSWER: Readonly<Record<string, string>> = {
  ECONNREFUSED: REFUSED,
  ECONNRESET: 'connection closed without an answer',
  ENOTFOUND: 'host name does not resolve',
  EAI_AGAIN: 'host name does not resolve',
  ETIMEDOUT: 'no answer in time',
  timeout: 'no answer in time',
}

/** `code`: node's code of an error, or its message. */
export function noAnswer(code: string): Answer {
  const isUntrusted = /CERT|ISSUER/.test(code)
  const text = NO_ANSWER[code] ?? (isUntrusted ? `certificate not trusted (${code})` : `no answer (${code})`)
  return { status: 0, retryAfterMs: 0, text }
}

/**
 * `again`: another try may end differently. `waits`: until somebody has fixed address or key. `refused`: never, as the
 * event itself is at fault.
 */
export interface Verdict {
  readonly is: 'stored' | 'again' | 'waits' | 'refused'
  /** 0: no answer came. */
  readonly status: number
  /** When the server takes it, by its own word; 0 when it names no time. */
  readonly retryAfterMs: number
  /** The account is suspended: Stint takes the event once that is over. */
  readonly isSuspended?: boolean
  /** The quota is spent: Stint takes the event later. */
  readonly isSpent?: boolean
  /** The server's own words. */
  readonly words: string
  readonly faults: readonly Fault[]
}

interface Fault {
  /** Empty for the whole event. */
  readonly field: string
  readonly detail: string
}

interface Problem {
  readonly code?: string
  readonly title?: string
  readonly detail?: string
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[]
  readonly items?: readonly (Problem & { readonly status?: number })[]
}

const isPassing = (status: number) =>
  status === 0 || status === 408 || status === 425 || status === 429 || status >= 500

const STORED: Verdict = { is: 'stored', status: 201, retryAfterMs: 0, words: '', faults: [] }

/** One verdict for each of `count` events. */
export function judgeAnswer({ status, text, retryAfterMs }: Answer, count: number): Verdict[] {
  const problem = status === 0 ? { detail: text } : parse(text)
  const all = Array.from({ length: count }, (_, i) => i)
  if (status === 201) return all.map(() => STORED)
  if (status !== 207) return all.map((i) => ({ ...judge(status, problem, i), retryAfterMs }))
  return all.map((i) => {
    const item = problem?.items?.[i]
    if (item === undefined) return judge(0, { detail: 'the answer does not name it' }, i)
    return item.status === undefined ? STORED : judge(item.status, item, i)
  })
}

function judge(status: number, problem: Problem | undefined, index: number): Verdict {
  const own = (problem?.errors ?? []).filter(({ pointer }) => `${pointer}/`.startsWith(`/${index}/`))
  const faults = own.map(({ pointer, detail }) => ({ field: pointer.replace(/^\/\d+\/?/, ''), detail }))
  const words = (problem?.detail ?? problem?.title ?? '').replace(/\.$/, '') // more may follow on the line
  const isFinal = status === 413 || status === 422
  const is = isFinal ? 'refused' : isPassing(status) ? 'again' : 'waits'
  const reasons = { isSuspended: problem?.code === 'account_suspended', isSpent: problem?.code === 'quota_spent' }
  return { is, status, retryAfterMs: 0, ...reasons, words, faults }
}

/** The event was refused because of its own time. */
export const isRefusedForTime = ({ is, faults }: Verdict): boolean =>
  is === 'refused' && faults.length > 0 && faults.every(({ field }) => field === 'at')

/** `nameField` says how a field is called where the caller set it. */
export function describeVerdict({ status, words, faults }: Verdict, nameField = (field: string) => field): string {
  const parts = [words, ...faults.map(({ field, detail }) => `${nameField(field)} ${detail}`.trim())].filter(Boolean)
  return status === 0 ? parts.join('; ') : `answered ${status}${parts.length === 0 ? '' : `: ${parts.join('; ')}`}`
}

/** For the caller of a library: `the server answered 503: not now`, or why no answer came. */
export const describeOutcome = (verdict: Verdict): string =>
  verdict.status === 0 ? describeVerdict(verdict) : `the server ${describeVerdict(verdict)}`

/** The fault of a whole answer; empty for a success. */
export const faultOf = (answer: Answer): string =>
  answer.status === 201 || answer.status === 207 ? '' : describeOutcome(judgeAnswer(answer, 1)[0]!)

function parse(text: string): Problem | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A clock this far from the server's is wrong, and not only read a moment later. */
const WRONG_CLOCK_MS = 60_000

/** From the `date` of an answer, which has whole seconds. `sentMs` and `answeredMs`: wall clock of this host. */
export function readAhead(date: string | null | undefined, sentMs: number, answeredMs: number): number | undefined {
  const serverMs = Date.parse(date ?? '') + 500
  return Number.isNaN(serverMs) ? undefined : Math.round((sentMs + answeredMs) / 2 - serverMs)
}

/** The reading that counts: an older one as long as the clock has not been set, so that all events move by the same. */
export const newerReading = (known: number | undefined, read: number | undefined): number | undefined =>
  known === undefined || (read !== undefined && Math.abs(read - known) > WRONG_CLOCK_MS) ? read : known

/** The event, a JSON text, with the time that it has by the server's clock; undefined if its clock is not wrong. */
export function correctTime(event: string, aheadMs: number | undefined): string | undefined {
  if (aheadMs === undefined || Math.abs(aheadMs) < WRONG_CLOCK_MS) return undefined
  const { at, ...fields } = JSON.parse(event) as { at?: string }
  const [, digits = ''] = /\.(\d+)Z$/.exec(at ?? '') ?? []
  const ms = Date.parse(at ?? '')
  if (Number.isNaN(ms)) return undefined
  // Date holds milliseconds; the digits behind them stay.
  return JSON.stringify({ ...fields, at: `${new Date(ms - aheadMs).toISOString().slice(0, -1)}${digits.slice(3)}Z` })
}

/** `this host's clock is 10 minutes ahead of Stint's`. */
export function describeAhead(aheadMs: number): string {
  const minutes = Math.abs(aheadMs) / 60_000
  const [count, unit] =
    minutes < 100 ? [minutes, 'minute'] : minutes < 2880 ? [minutes / 60, 'hour'] : [minutes / 1440, 'day']
  const rounded = Math.round(count)
  const span = `${rounded} ${unit}${rounded === 1 ? '' : 's'}`
  return `this host's clock is ${span} ${aheadMs > 0 ? 'ahead of' : 'behind'} Stint's; times are corrected`
}
