// Why a request got no answer, in a few words.

export function describeFetchFault(error: unknown): string {
  const { name, code, message } = error as { name?: string; code?: string; message?: string }
  if (name === 'TimeoutError' || name === 'AbortError') return 'no answer in time'
  if (code === 'ConnectionRefused' || code === 'ECONNREFUSED') return 'connection refused'
  return code ?? message ?? 'unknown'
}
