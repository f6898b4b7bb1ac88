// The pages behind the links in e-mails. A GET shows a button and changes nothing, because mail scanners open links;
// the POST of the button, or of a mail program (RFC 8058), changes it.
import type { Watches } from '../../watch/watches.ts'
import * as wire from '../../wire/channels.ts'
import { htmlPage } from '../html-page.ts'
import type { Mounts } from '../mount.ts'

const tokenOf = (request: Request): string => new URL(request.url).searchParams.get('token') ?? ''

export function mountLinkPages({ onAnyone: on }: Mounts, links: Watches['channels']['links']): void {
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
  return htmlPage(title, text, action === undefined ? '' : `<form method="post"><button>${action}</button></form>`)
}
