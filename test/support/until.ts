// Waiting for a condition, never for a time.

/** Say what can be seen at the moment, for the error of a wait that was in vain: a browser's pages, for example. */
export const witnesses = new Map<object, () => Promise<string>>()

/** Resolves when `isSo` answers true. Rejects after `withinMs`, naming `what` did not become true. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  withinMs = 60_000,
  everyMs = 5,
): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await isSo())) {
    if (performance.now() > deadline) {
      const seen = await Promise.all([...witnesses.values()].map((describe) => describe()))
      throw new Error(`not within ${withinMs} ms: ${what}${seen.join('')}`)
    }
    await Bun.sleep(everyMs)
  }
}
