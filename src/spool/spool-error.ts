// Why an append or an advance failed. The codes are those of the closed table in problem.ts, so HTTP can pass them on.
/** Reasons to refuse an append before writing; all are temporary, `busy` ends with the next commit. */
export type SpoolRefusal = 'spool_full' | 'share_full' | 'letters_full' | 'disk_share' | 'disk_low' | 'busy'

export type SpoolErrorCode = SpoolRefusal | 'stopping' | 'disk_failed'

const MESSAGES: Record<SpoolErrorCode, string> = {
  spool_full: 'the spool is full',
  share_full: 'the share of this owner in the spool is full',
  letters_full: 'the share of this owner in the dead letters is full',
  disk_share: 'the disk is nearly full, and this owner has sent the most',
  disk_low: 'the disk is almost full',
  busy: 'too much waits for the disk',
  stopping: 'the spool is closed',
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
