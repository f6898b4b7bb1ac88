// Whether long work gives way: counts how often other work has its turn meanwhile.

/** The result of the work, and the turns of the event loop while it ran. */
export async function countTurns<T>(work: () => Promise<T>): Promise<{ result: T; turns: number }> {
  let turns = 0
  let isDone = false
  const count = () => {
    turns++
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const result = await work()
  isDone = true
  return { result, turns }
}

/** The most that `note` counted within one turn of the event loop. */
export async function countPerTurn(work: (note: () => void) => Promise<unknown>): Promise<number> {
  let [most, now] = [0, 0]
  let isDone = false
  const count = () => {
    most = Math.max(most, now)
    now = 0
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  await work(() => now++)
  isDone = true
  return Math.max(most, now)
}
