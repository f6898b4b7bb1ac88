// The current view, stored in the URL's fragment: the server never sees it and needs no route for it.
//   #/runs?from=-6h&process=import

export interface Route {
  readonly page: string
  readonly params: URLSearchParams
}

export function parseRoute(hash: string): Route {
  const [, page = '', search = ''] = /^#?\/?([a-z-]*)(?:\?(.*))?$/s.exec(hash) ?? []
  return { page, params: new URLSearchParams(search) }
}

/** The token of an e-mailed link such as `#/reset?token=…`, if this page was opened by one. */
export const linkToken = (page: 'invitation' | 'reset' | 'sign-up' | 'confirm'): string | undefined =>
  new RegExp(`^#/${page}\\?token=(\\w+)$`).exec(location.hash)?.[1]

/** Undefined values are omitted. */
export type Params = Readonly<Record<string, string | undefined>>

export function formatRoute(page: string, params: Params | URLSearchParams = {}): string {
  const given = params instanceof URLSearchParams ? params : toSearch(params)
  return given.size === 0 ? `#/${page}` : `#/${page}?${given}`
}

/** The same view with some parameters changed; undefined removes one. */
export function changeParams(params: URLSearchParams, changes: Params): URLSearchParams {
  const changed = new URLSearchParams(params)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) changed.delete(name)
    else changed.set(name, value)
  }
  return changed
}

function toSearch(params: Params): URLSearchParams {
  return changeParams(new URLSearchParams(), params)
}
