// Lines to paste that send something. Free of schemas: it is in the console's bundle.

import type { Scope } from './roles.ts'

export const FIRST_PING = 'first-steps'

/** A line behind a job; `token` may be a variable of the shell. */
export const pingLine = (baseUrl: string, token: string, process: string): string =>
  `curl -fsS -m 10 --retry 5 -o /dev/null "${baseUrl}/ping/${token}/${encodeURIComponent(process)}"`

interface NewKey {
  readonly scopes: readonly Scope[]
  /** The only one that it may name. */
  readonly process?: string | undefined
  readonly secret: string
}

/** A line that shows that a key works: it sends one number or a ping, or asks for something. */
export function tryLine(baseUrl: string, { scopes, process = FIRST_PING, secret }: NewKey): string {
  if (scopes.includes('ping')) return pingLine(baseUrl, secret, process)
  const ask = (path: string, more = '') => `curl -sS "${baseUrl}/${path}" -H "Authorization: Bearer ${secret}"${more}`
  if (!scopes.includes('write')) return ask(scopes.includes('read') ? 'api/overview' : 'api/watches')
  const body = JSON.stringify({ process, items: { tried: 1 } })
  return ask('v1/metrics', ` -H "Content-Type: application/json" -d '${body}'`)
}

export interface Snippet {
  readonly name: string
  readonly hint: string
  /**
   * ADDRESS is that of the reader's Stint. OWN_KEY is the key that the reader sees, KEY one that may write alone, for a
   * host that runs jobs, and TOKEN one that may ping.
   */
  readonly text: string
}

export interface Snippets {
  readonly first: readonly Snippet[]
  /** Snippets of the page Recipes whose names `first` does not have. */
  readonly schedulers: readonly Snippet[]
}
