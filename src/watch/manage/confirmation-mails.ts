// The e-mails with the link that confirms an address. One that the mail server defers (greylisting) is sent again, with
// the same id. It waits in memory, because of its token only a hash may be stored: a restart loses it, and enabling the
// channel sends another link.
import type { DeliveryError } from '../../notify/delivery/delivery-error.ts'
import type { Mail, Mailer } from '../../notify/delivery/mailer.ts'
import { formatSpan } from '../conditions/wording.ts'
import type { WatchStore } from '../storage/create-watch-store.ts'
import type { Channel } from '../storage/watch-store.ts'

const TICK_MS = 5000
/** After the last one it is given up: about a day. */
const WAITS_S = [60, 300, 900, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600]

interface ConfirmationMailsOptions {
  readonly store: Pick<WatchStore, 'channel' | 'settle'>
  readonly mailer: Pick<Mailer, 'send'>
  nowUs(): number
  onFault(err: unknown, message: string): void
}

export type ConfirmationMails = ReturnType<typeof createConfirmationMails>

interface Waiting {
  readonly confirm: string | null
  readonly mail: Mail
  readonly tries: number
  readonly dueUs: number
}

export function createConfirmationMails({ store, mailer, nowUs, onFault }: ConfirmationMailsOptions) {
  /** By channel: a newer link replaces an older one. */
  const waiting = new Map<string, Waiting>()
  let timer: Timer | undefined
  let isStepping = false

  async function attempt({ id, confirm, last: before }: Channel, mail: Mail, tries: number) {
    waiting.delete(id)
    const last = await mailer.send(mail).then(
      (detail) => ({ atUs: nowUs(), ok: true, detail }),
      (error: DeliveryError) => {
        const waitS = error.reason.isDeferred ? WAITS_S[tries] : undefined
        const again = waitS === undefined ? '' : `. It is sent again in ${formatSpan(waitS * 1e6)}.`
        if (waitS !== undefined) waiting.set(id, { confirm, mail, tries: tries + 1, dueUs: nowUs() + waitS * 1e6 })
        return { atUs: nowUs(), ok: false, detail: `${error.message}${again}` }
      },
    )
    if (last.ok && before?.ok !== false) return before
    await store.settle([], { id, last }, nowUs(), 'dropped')
    return last
  }

  async function step(): Promise<void> {
    if (isStepping) return
    isStepping = true
    try {
      for (const [id, { confirm, mail, tries, dueUs }] of [...waiting]) {
        if (dueUs > nowUs()) continue
        const channel = await store.channel(id)
        const isWanted = channel?.state === 'pending' && channel.confirm === confirm
        if (isWanted) await attempt(channel, mail, tries)
        else waiting.delete(id)
      }
    } finally {
      isStepping = false
    }
  }

  return {
    /** What the channel then shows as its last answer: a failure, and the success after one. */
    send: (channel: Channel, mail: Mail) => attempt(channel, mail, 0),
    isWaiting: (id: string): boolean => waiting.has(id),
    /** Sends again what is due. */
    step,
    start(): void {
      timer = setInterval(() => {
        void step().catch((err: unknown) => onFault(err, 'a confirmation could not be sent again; retrying'))
      }, TICK_MS)
    },
    stop: () => clearInterval(timer),
  }
}
