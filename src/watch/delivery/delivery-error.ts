// Why a notification was not delivered. The message is for the owner of the channel: it holds no address that Stint looked up and no secret.

export class DeliveryError extends Error {
  override readonly name = 'DeliveryError'
  /** The receiver answered 410: it is gone and wants nothing more. */
  readonly isGone: boolean

  constructor(message: string, options: { cause?: unknown; isGone?: boolean } = {}) {
    super(message, { cause: options.cause })
    this.isGone = options.isGone === true
  }
}
