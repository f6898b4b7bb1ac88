// E-mails that people wait for: links that confirm, invite, or set a password. One that the mail server defers
// (greylisting) is sent again, with the same id, for about a day. It waits in memory, because of its token only a hash
// may be stored: a restart loses it, and asking again sends another link.
import type { DeliveryError } from './delivery-error.ts'
import type { Mail, Mailer } from './mailer.ts'

const TICK_MS = 5000
/** After the last one it is given up: about a day. */
const WAITS = ['1 min', '5 min', '15 min', '30 min', '1 h', '3 h', '6 h', '12 h'] as const
const UNIT_US = { min: 60e6, h: 3600e6 } as const

export interface MailAnswer {
  readonly ok: boolean
  /** What the mail server said, and when the e-mail is sent again. */
  readonly detail: string
}

interface RepeatedMail {
  /** A newer e-mail takes the place of a waiting one with the same key. */
  readonly key: string
  readonly mail: Mail
  /** What to send when it is due again; undefined when it is no longer wanted. */
  again(): Promise<Mail | undefined>
  /** Hears the answers to what is sent again. */
  told?(answer: MailAnswer): Promise<unknown>
}

interface RepeatMailsOptions {
  readonly mailer: Pick<Mailer, 'send'>
  nowUs(): number
  onFault(err: unknown, message: string): void
}

export type RepeatMails = ReturnType<typeof createRepeatMails>

export function createRepeatMails({ mailer, nowUs, onFault }: RepeatMailsOptions) {
  const waiting = new Map<string, RepeatedMail & { readonly tries: number; readonly dueUs: number }>()
  let timer: Timer | undefined
  let isStepping = false

  async function attempt(one: RepeatedMail, tries: number): Promise<MailAnswer> {
    waiting.delete(one.key)
    return mailer.send(one.mail).then(
      (detail) => ({ ok: true, detail }),
      (error: DeliveryError) => {
        const wait = error.reason.isDeferred ? WAITS[tries] : undefined
        if (wait === undefined) return { ok: false, detail: error.message }
        waiting.set(one.key, { ...one, tries: tries + 1, dueUs: nowUs() + inUs(wait) })
        return { ok: false, detail: `${error.message}. It is sent again in ${wait}.` }
      },
    )
  }

  async function step(): Promise<void> {
    if (isStepping) return
    isStepping = true
    try {
      for (const [key, { tries, dueUs, ...one }] of [...waiting]) {
        if (dueUs > nowUs()) continue
        try {
          const mail = await one.again()
          if (mail === undefined) waiting.delete(key)
          else await one.told?.(await attempt({ ...one, mail }, tries))
        } catch (err) {
          onFault(err, 'an e-mail could not be sent again; retrying') // one fault does not hold up the others
        }
      }
    } finally {
      isStepping = false
    }
  }

  return {
    send: (one: RepeatedMail): Promise<MailAnswer> => attempt(one, 0),
    isWaiting: (key: string): boolean => waiting.has(key),
    /** Sends again what is due. */
    step,
    start(): void {
      timer = setInterval(() => void step(), TICK_MS)
    },
    stop: () => clearInterval(timer),
  }
}

const inUs = (span: (typeof WAITS)[number]): number =>
  Number.parseInt(span, 10) * UNIT_US[span.endsWith('min') ? 'min' : 'h']
