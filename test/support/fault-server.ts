// A server of the test's own that may be killed and started again on its data and port: it dies with the test run however that ends.
const HEALTHY_WITHIN_MS = 180_000
const DIES_WITH_US =
  'exec 3<&0; "$@" <&- & server=$!; echo "pid $server"; { cat <&3; kill -9 $server; } 2>&- & wait $server'

export type FaultServer = ReturnType<typeof createFaultServer>

export function createFaultServer(command: readonly string[], isHealthy: () => Promise<boolean>) {
  let child: Bun.Subprocess<'pipe', 'pipe', 'pipe'> | undefined
  let pid: number | undefined
  let log = ''

  async function collect(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    for await (const chunk of stream) {
      log = (log + decoder.decode(chunk, { stream: true })).slice(-20_000)
      pid ??= Number(/^pid (\d+)$/m.exec(log)?.[1]) || undefined
    }
  }

  return {
    /** Resolves when it is healthy. */
    async start(): Promise<void> {
      log = ''
      pid = undefined
      child = Bun.spawn(['/bin/sh', '-c', DIES_WITH_US, 'sh', ...command], {
        stdin: 'pipe',
        stdout: 'pipe',
        stderr: 'pipe',
      })
      child.unref()
      void collect(child.stdout)
      void collect(child.stderr)
      const deadline = performance.now() + HEALTHY_WITHIN_MS
      while (pid === undefined || !(await isHealthy().catch(() => false))) {
        if (child.exitCode !== null) throw new Error(`${command[0]} ended with ${child.exitCode}:\n${log}`)
        if (performance.now() > deadline) throw new Error(`${command[0]} was not healthy in time:\n${log}`)
        await Bun.sleep(25)
      }
    },
    /** kill -9; resolves when it is gone. */
    async kill(): Promise<void> {
      if (child === undefined || pid === undefined) return
      if (child.exitCode === null) process.kill(pid, 'SIGKILL')
      await child.exited
      child = undefined
    },
    /** Of the server itself; the child process is a shell around it. */
    pid(): number {
      if (pid === undefined) throw new Error(`${command[0]} does not run`)
      return pid
    },
  }
}
