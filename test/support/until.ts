// Waiting for a condition, never for a time.

/** Asks until the answer is neither undefined nor false, and resolves to it. Rejects after `withinMs` with the last answer in words. */
export async function until<T>(
  ask: () => T | Promise<T>,
  { withinMs = 10_000, everyMs = 5, what = 'the condition' } = {},
): Promise<Exclude<T, undefined | false>> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer as Exclude<T, undefined | false>
    if (performance.now() > deadline) throw new Error(`${what} did not come true within ${withinMs} ms`)
    await Bun.sleep(everyMs)
  }
}
