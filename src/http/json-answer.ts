// An account's own data as the answer to a request: JSON that no cache keeps and no browser takes for anything else.

const HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

export const jsonAnswer = (body: object, status = 200): Response =>
  new Response(JSON.stringify(body), { status, headers: HEADERS })
