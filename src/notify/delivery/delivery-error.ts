// The reason why a notification was not delivered. The message is for the channel's owner: it holds no resolved address
// and no secret.

interface Reason {
  readonly cause?: unknown
  /** The receiver accepts no more notifications (410). */
  readonly isGone?: boolean
  /** The receiver will never take this notification: it is dropped. */
  readonly isPermanent?: boolean
  /** The receiver refused this notification (4xx): it is retried, but later ones do not wait for it. */
  readonly isRefused?: boolean
  /** The mail server wants the e-mail again later (4xx). */
  readonly isDeferred?: boolean
  /** How long the receiver wants to be left alone. */
  readonly retryAfterS?: number | undefined
}

export class DeliveryError extends Error {
  override readonly name = 'DeliveryError'
  readonly reason: Reason

  constructor(message: string, reason: Reason = {}) {
    super(message, { cause: reason.cause })
    this.reason = reason
  }
}
