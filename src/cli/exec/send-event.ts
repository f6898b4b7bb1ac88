// Sends one event to /v1 and judges the answer: stored, refused for good, or kept to be sent again.
import type { EVENT_BODIES } from '../../wire/events.ts'

/** One request to /v1: its path there and its body. */
export interface OutgoingEvent {
  readonly kind: keyof typeof EVENT_BODIES
  readonly body: Readonly<Record<string, unknown>>
}

export interface Target {
  /** Stint's address, without a trailing slash. */
  readonly url: string
  readonly keyHeader: string
  readonly key: string | undefined
  /** Why the given key cannot be used. */
  readonly keyFault?: string
}

export type Outcome =
  | { readonly is: 'stored' }
  | { readonly is: 'refused'; readonly why: string }
  | { readonly is: 'kept'; readonly why: string }

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** Only these mean that the event itself is at fault; any other answer may differ the next time. */
const NEVER = new Set([413, 422])
const NO_KEY = 'no API key; set STINT_API_KEY, or api_key in ~/.config/stint.json'

/** Never rejects. Pass `signal` to give up. */
export async function sendEvent(
  event: OutgoingEvent,
  target: Target,
  fetch: Fetch,
  signal: AbortSignal,
): Promise<Outcome> {
  const { kind, body } = event
  const { url, keyHeader, key, keyFault = NO_KEY } = target
  if (key === undefined) return { is: 'kept', why: keyFault }
  try {
    const response = await fetch(`${url}/v1/${kind}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', [keyHeader]: key },
      body: JSON.stringify(body),
      redirect: 'manual', // the key is for this server
      signal,
    })
    const text = await response.text()
    if (response.status === 201) return { is: 'stored' }
    const why = `${url} answered ${response.status}${describeProblem(parseProblem(text))}`
    return { is: NEVER.has(response.status) ? 'refused' : 'kept', why }
  } catch (error) {
    return { is: 'kept', why: `cannot reach Stint at ${url} (${describeFetchFault(error)})` }
  }
}

/** Why a request got no answer, in a few words. */
export function describeFetchFault(error: unknown): string {
  const { name, code, message } = error as { name?: string; code?: string; message?: string }
  if (name === 'TimeoutError' || name === 'AbortError') return 'no answer in time'
  if (code === 'ConnectionRefused' || code === 'ECONNREFUSED') return 'connection refused'
  return code ?? message ?? 'unknown'
}

interface Problem {
  readonly title: string
  readonly errors: readonly { readonly pointer?: unknown; readonly detail?: unknown }[]
}

function parseProblem(text: string): Problem | undefined {
  try {
    const { title, errors } = JSON.parse(text)
    return typeof title === 'string' ? { title, errors: Array.isArray(errors) ? errors : [] } : undefined
  } catch {
    return undefined
  }
}

/** The server's own words, with each field named as the flag that set it. */
function describeProblem(problem: Problem | undefined): string {
  if (problem === undefined) return ''
  const faults = problem.errors.map(({ pointer, detail }) =>
    `${String(pointer).replace(/^\//, '--')} ${String(detail)}`.trim(),
  )
  return `: ${[problem.title, ...faults].join('; ')}`
}
