// Waiting for a condition, never for a time.

/** Resolves when `isSo` answers true. Rejects after `withinMs`, naming `what` did not become true. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  withinMs = 30_000,
  everyMs = 5,
): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`)
    await Bun.sleep(everyMs)
  }
}
