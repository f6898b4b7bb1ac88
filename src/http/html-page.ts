// The pages that Stint writes itself, outside the console: no script, and nothing from elsewhere.
import { pageHeaders } from './answers.ts'

const HEADERS = pageHeaders(
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
  { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
)

/** `content`: HTML behind the text. */
export function htmlPage(title: string, text: string, content: string, status = 200): Response {
  const body = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${Bun.escapeHTML(title)} · Stint</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><style>
body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1rem}
button{font:inherit;padding:.6rem 1.4rem}
</style><main><h1>${Bun.escapeHTML(title)}</h1><p>${Bun.escapeHTML(text)}</p>${content}</main></html>`
  return new Response(body, { status, headers: HEADERS })
}
