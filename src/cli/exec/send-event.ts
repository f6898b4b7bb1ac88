// One event to /v1. What the answer means: stored, never to be stored, or to be kept and sent again.
import { describeFetchFault } from '../fetch-fault.ts'
import type { OutgoingEvent } from './job-events.ts'

export interface Target {
  /** Where Stint is, without a trailing slash. */
  readonly url: string
  readonly keyHeader: string
  readonly key: string | undefined
  /** Why there is no key, when one was given. */
  readonly keyFault?: string
}

export type Outcome =
  | { readonly is: 'stored' }
  | { readonly is: 'refused'; readonly why: string }
  | { readonly is: 'kept'; readonly why: string }

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** Only these say that the event itself is at fault; everything else may be different the next time. */
const NEVER = new Set([413, 422])

/** Never rejects. Pass `signal` to give up. */
export async function sendEvent(
  { kind, body }: OutgoingEvent,
  { url, keyHeader, key, keyFault = 'there is no STINT_API_KEY' }: Target,
  fetch: Fetch,
  signal: AbortSignal,
): Promise<Outcome> {
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
    const why = `${url} answered ${response.status}${describeProblem(text)}`
    return { is: NEVER.has(response.status) ? 'refused' : 'kept', why }
  } catch (error) {
    return { is: 'kept', why: `${url} did not answer (${describeFetchFault(error)})` }
  }
}

interface Problem {
  readonly title?: unknown
  readonly errors?: readonly { readonly pointer?: unknown; readonly detail?: unknown }[]
}

/** The server's own words, with a field named as the flag that gave it. */
function describeProblem(text: string): string {
  let problem: Problem
  try {
    problem = JSON.parse(text)
  } catch {
    return ''
  }
  if (typeof problem?.title !== 'string') return ''
  const errors = Array.isArray(problem.errors) ? problem.errors : []
  const faults = errors.map(({ pointer, detail }) => `${String(pointer).replace(/^\//, '--')} ${String(detail)}`.trim())
  return `: ${[problem.title, ...faults].join('; ')}`
}
