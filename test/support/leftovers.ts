// Pages and processes that a test file opened and did not close: the next file would share the processor with them.

const open = new Set<() => Promise<unknown>>()

/** `close` is called when the next file begins, unless the function that is returned was called before. */
export function closeAtEnd(close: () => Promise<unknown>): () => void {
  open.add(close)
  return () => void open.delete(close)
}

/** Called before each test file. */
export function closeLeftovers(): void {
  for (const close of open) close().catch(() => undefined) // such as a page whose browser has ended
  open.clear()
}
