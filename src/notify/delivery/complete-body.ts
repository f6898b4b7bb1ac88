// What a notification says that is looked up when it is sent: the note of its process, and whether its exception is
// new. Nobody waits long for either: without an answer it says nothing about it.

import { describeSeen } from '../../wire/words.ts'
import type { NotificationBody } from '../notification.ts'

/** The exception of a failure; times are RFC 3339. */
export interface ToldException {
  readonly account: string
  readonly process: string
  /** '' = without. */
  readonly meta: string
  readonly headline: string
  /** The start of the run, else the failure. */
  readonly from: string
  readonly at: string
}

export interface CompleteBodyDeps {
  /** Rejects while the database is away. */
  noteOf(account: string, process: string): Promise<string | null>
  /** When its group was raised before that run; null: it is new, undefined: not known. Within a second. */
  previousOf(exception: ToldException): Promise<string | null | undefined>
}

export type CompleteBody = (account: string, body: NotificationBody, isWebhook: boolean) => Promise<NotificationBody>

export function createCompleteBody({ noteOf, previousOf }: CompleteBodyDeps): CompleteBody {
  return async (account, body, isWebhook) => {
    const { type, data, facts } = body
    const { condition, process, meta, exception, started_at, since } = data
    const isFailure = type === 'alert.firing' && condition === 'failed' && exception !== null
    const told = { account, process, meta: meta ?? '', headline: exception ?? '', from: started_at ?? since, at: since }
    const [note, previous] = await Promise.all([
      isWebhook && type !== 'test' ? noteOf(account, process).catch(() => null) : null,
      isFailure ? previousOf(told) : undefined,
    ])
    if (previous === undefined) return { ...body, data: { ...data, note } }
    const words = describeSeen(since, previous)
    return {
      ...body,
      data: { ...data, note, exception_previous_at: previous },
      facts: facts.map(([label, text]) => [label, label === 'Exception' && words !== '' ? `${text} (${words})` : text]),
    }
  }
}
