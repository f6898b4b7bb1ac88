// Decides what InfluxDB's answer to a write means for the batch's events. They are kept unless the answer means
// "never"; an unexpected status waits for the operator.
import type { WriteResult } from '../sink.ts'
import { InfluxFault } from './client.ts'

// "partial write: dropped 2 points outside retention policy …" (2.7), "partial write: points beyond retention policy
// dropped=2" (before). A field type conflict in the same batch wins over it, so the text is about the whole batch.
const EXPIRED = /partial write: (?:dropped (\d+) points outside retention|points beyond retention policy dropped=(\d+))/

/** Judges an error of `InfluxClient.writeLines`; any other is rethrown. */
export function judgeFailure(error: unknown): WriteResult {
  if (!(error instanceof InfluxFault)) throw error
  const { status, message: reason, retryAfterMs } = error
  const retry: WriteResult =
    retryAfterMs === undefined ? { kind: 'retry', reason } : { kind: 'retry', reason, afterMs: retryAfterMs }
  if (status === undefined || status >= 500) return retry
  switch (status) {
    case 400: // a malformed line; nothing of the batch is stored
      return { kind: 'refused', reason }
    case 422: {
      // partial: the other points are stored, which were dropped is not said
      const expired = EXPIRED.exec(reason)
      return expired === null
        ? { kind: 'refused', reason }
        : { kind: 'stored', expired: Number(expired[1] ?? expired[2]) }
    }
    case 413:
      return { kind: 'too_large', reason }
    case 408:
    case 425:
    case 429:
      return retry
    default: // 401, 403, 404 and whatever a proxy may say
      return { kind: 'wait', reason }
  }
}
