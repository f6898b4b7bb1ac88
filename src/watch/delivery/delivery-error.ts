// The reason why a notification was not delivered. The message is for the channel's owner: it holds no resolved address and no secret.

export class DeliveryError extends Error {
  override readonly name = 'DeliveryError'
  /** The receiver answered 410: it accepts no more notifications. */
  readonly isGone: boolean

  constructor(message: string, options: { cause?: unknown; isGone?: boolean } = {}) {
    super(message, { cause: options.cause })
    this.isGone = options.isGone === true
  }
}
