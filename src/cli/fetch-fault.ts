// Why a request got no answer, in a few words.
export function describeFetchFault(error: unknown): string {
  const { name, code, message } = error as { name?: string; code?: string; message?: string }
  if (name === 'TimeoutError' || name === 'AbortError') return 'no answer in time'
  if (code === 'ConnectionRefused' || code === 'ECONNREFUSED') return 'connection refused'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'host name does not resolve'
  if (code === 'ECONNRESET') return 'connection closed without an answer'
  return code ?? message ?? 'unknown'
}

/** The server may have been reached: another try may end differently. */
export function isPassingFault(error: unknown): boolean {
  const { name, code } = error as { name?: string; code?: string }
  return name === 'TimeoutError' || name === 'AbortError' || code === 'ECONNRESET' || code === 'EPIPE'
}
