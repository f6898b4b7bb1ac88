// Batches are work for the event loop, so they take turns: one slice per turn of the loop, the accounts one after the other. However many
// batches an account sends, another account waits for one slice of it at a time.

/** Resolves when it is this account's turn; what follows up to the next `await` is the slice. */
export type TakeTurn = (account: string) => Promise<void>

export function createFairTurns(): TakeTurn {
  const waiting = new Map<string, (() => void)[]>()
  let isRunning = false

  function run(): void {
    const [account, queue] = waiting.entries().next().value!
    waiting.delete(account)
    queue.shift()!()
    if (queue.length > 0) waiting.set(account, queue) // behind the others
    isRunning = waiting.size > 0
    if (isRunning) setImmediate(run)
  }

  return (account) =>
    new Promise((resolve) => {
      const queue = waiting.get(account)
      if (queue === undefined) waiting.set(account, [resolve])
      else queue.push(resolve)
      if (isRunning) return
      isRunning = true
      setImmediate(run)
    })
}
