// The pages behind the links in e-mails. A GET shows a button and changes nothing, because mail scanners open links;
// the POST of the button, or of a mail program (RFC 8058), changes it.

import type { StoredChannel } from '../../notify/notification.ts'
import { Problem } from '../../problem.ts'
import type { Watches } from '../../watch/watches.ts'
import * as wire from '../../wire/channels.ts'
import { htmlPage } from '../html-page.ts'
import type { Mounts } from '../mount.ts'

export function mountLinkPages({ onAnyone: on }: Mounts, links: Watches['channels']['links']): void {
  on(
    wire.ASK_CONFIRMATION,
    byLink(links.confirmable, (target) =>
      page('Confirm this address', `Stint will send alerts to ${target}.`, 'Confirm'),
    ),
  )
  on(
    wire.CONFIRM_CHANNEL,
    byLink(links.confirm, (target) => page('The address is confirmed.', `Alerts are sent to ${target}.`)),
  )
  on(
    wire.ASK_UNSUBSCRIPTION,
    byLink(links.unsubscribable, (target) =>
      page('Stop these e-mails?', `Stint will send no more alerts to ${target}.`, 'Unsubscribe'),
    ),
  )
  on(
    wire.UNSUBSCRIBE_CHANNEL,
    byLink(links.unsubscribe, (target) => page('Unsubscribed', `Stint sends no more alerts to ${target}.`)),
  )
}

/** A browser is shown why a link does not work. */
const byLink =
  (work: (token: string) => Promise<StoredChannel>, show: (target: string) => Response) =>
  async (_: unknown, { request }: { readonly request: Request }): Promise<Response> => {
    try {
      return show((await work(new URL(request.url).searchParams.get('token') ?? '')).target)
    } catch (error) {
      if (!(error instanceof Problem) || !request.headers.get('accept')?.includes('text/html')) throw error
      return htmlPage('This link does not work', error.message, '', error.status)
    }
  }

/** The form posts to the address of the page itself. */
function page(title: string, text: string, action?: string): Response {
  return htmlPage(title, text, action === undefined ? '' : `<form method="post"><button>${action}</button></form>`)
}
