// Why a request got no answer, in a few words.
import { NO_ANSWER } from '../client/judge-answer.ts'

const hasTimedOut = (name: string | undefined) => name === 'TimeoutError' || name === 'AbortError'

export function describeFetchFault(error: unknown): string {
  const { name, code, message } = error as { name?: string; code?: string; message?: string }
  const known = hasTimedOut(name) ? 'timeout' : code === 'ConnectionRefused' ? 'ECONNREFUSED' : code
  return NO_ANSWER[known ?? ''] ?? known ?? message ?? 'unknown'
}

/** The server may have been reached: another try may end differently. */
export function isPassingFault(error: unknown): boolean {
  const { name, code } = error as { name?: string; code?: string }
  return hasTimedOut(name) || code === 'ECONNRESET' || code === 'EPIPE'
}
