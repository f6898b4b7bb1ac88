// The pages behind the links in e-mails. A GET shows a button and changes nothing, because mail scanners open links;
// the POST of the button, or of a mail program (RFC 8058), changes it.
import type { Watches } from '../../watch/watches.ts'
import * as wire from '../../wire/channels.ts'
import { pageHeaders } from '../answers.ts'
import type { createMount } from '../mount.ts'

const HEADERS = pageHeaders(
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
  {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
  },
)

const tokenOf = (request: Request): string => new URL(request.url).searchParams.get('token') ?? ''

export function mountLinkPages(on: ReturnType<typeof createMount<void>>, links: Watches['channels']['links']): void {
  on(wire.ASK_CONFIRMATION, async (_, { request }) => {
    const { target } = await links.confirmable(tokenOf(request))
    return page('Confirm this address', `Stint will send alerts to ${target}.`, 'Confirm')
  })
  on(wire.CONFIRM_CHANNEL, async (_, { request }) => {
    const { target } = await links.confirm(tokenOf(request))
    return page('The address is confirmed.', `Alerts are sent to ${target}.`)
  })
  on(wire.ASK_UNSUBSCRIPTION, async (_, { request }) => {
    const { target } = await links.unsubscribable(tokenOf(request))
    return page('Stop these e-mails?', `Stint will send no more alerts to ${target}.`, 'Unsubscribe')
  })
  on(wire.UNSUBSCRIBE_CHANNEL, async (_, { request }) => {
    const { target } = await links.unsubscribe(tokenOf(request))
    return page('Unsubscribed', `Stint sends no more alerts to ${target}.`)
  })
}

/** The form posts to the address of the page itself. */
function page(title: string, text: string, action?: string): Response {
  const form = action === undefined ? '' : `<form method="post"><button>${action}</button></form>`
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title} – Stint</title>
<meta name="viewport" content="width=device-width"><style>
body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1rem;color-scheme:light dark}
button{font:inherit;padding:.6rem 1.4rem}
</style><main><h1>${title}</h1><p>${Bun.escapeHTML(text)}</p>${form}</main></html>`
  return new Response(html, { headers: HEADERS })
}
