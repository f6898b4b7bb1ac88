// Why an append or an advance did not happen. The codes are those of the closed table in problem.ts, so HTTP can pass them on.

/** What refuses an append before anything is written; all clear by themselves, `busy` with the next commit. */
export type SpoolRefusal = 'spool_full' | 'share_full' | 'disk_low' | 'busy'

export type SpoolErrorCode = SpoolRefusal | 'disk_failed'

const MESSAGES: Record<SpoolErrorCode, string> = {
  spool_full: 'the spool is full',
  share_full: 'the share of this owner in the spool is full',
  disk_low: 'the disk is almost full',
  busy: 'too much waits for the disk',
  disk_failed: 'the disk failed',
}

export class SpoolError extends Error {
  override readonly name = 'SpoolError'

  constructor(
    readonly code: SpoolErrorCode,
    cause?: unknown,
    /** A record of the rejected append may be delivered all the same: the disk did not take its removal either. */
    readonly mayBeKept = false,
  ) {
    super(MESSAGES[code], cause === undefined ? {} : { cause })
  }
}
