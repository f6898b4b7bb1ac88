// Sends what a job could not wait for: another `stint`, which outlives us and whom nobody waits for.

/** Nothing happens when it cannot be started: the next `stint exec` sends what is pending. */
export function startFlusher(env: Readonly<Record<string, string | undefined>>): void {
  try {
    Bun.spawn([...ourselves(), 'flush', '--background'], {
      env,
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'ignore',
      detached: true,
    }).unref()
  } catch {
    // The events are in their files.
  }
}

/** A compiled program is one file and starts by itself. */
const ourselves = (): string[] =>
  Bun.main.startsWith('/$bunfs/') ? [process.execPath] : [process.execPath, ...process.execArgv, Bun.main]
