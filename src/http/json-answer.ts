// An account's own data as the answer to a request: JSON that no cache keeps and no browser takes for anything else.
import { uncachedHeaders } from './answer-headers.ts'

const HEADERS = uncachedHeaders({ 'content-type': 'application/json' })
const NO_CONTENT = { status: 204, headers: uncachedHeaders() }

export const jsonAnswer = (body: object, status = 200): Response =>
  new Response(JSON.stringify(body), { status, headers: HEADERS })

/** 204: it is done, and there is nothing to say. */
export const emptyAnswer = (): Response => new Response(null, NO_CONTENT)
