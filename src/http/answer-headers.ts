// What every answer tells a browser that meets it: take it for nothing else, tell no other site where you were, let no other site load it.
// Each kind of answer makes its headers once: Bun copies a Headers object faster than it reads a plain one of two entries.

const ALWAYS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
}

/** To be made once and handed to many a Response, which copies them. */
export const answerHeaders = (more: Readonly<Record<string, string>> = {}): Headers =>
  new Headers({ ...ALWAYS, ...more })

/** Of answers that hold what is somebody's own, and of refusals: no cache keeps them. */
export const uncachedHeaders = (more: Readonly<Record<string, string>> = {}): Headers =>
  answerHeaders({ ...more, 'cache-control': 'no-store' })

/** Of pages: no other page shows them in a frame, old browsers included. */
export const pageHeaders = (policy: string, more: Readonly<Record<string, string>> = {}): Headers =>
  answerHeaders({
    'content-security-policy': policy,
    'cross-origin-opener-policy': 'same-origin',
    'x-frame-options': 'DENY',
    ...more,
  })
