// Ports of this run. Each is given out once, because a process that was killed or a client that retries may still send
// to it; and none of them is among those that the system gives out for port 0 and for outgoing connections.
// A process owns the ports of a block while it listens on the block's first one, so parallel workers never share one.

const [FROM, TO] = [12_000, 32_000]
const BLOCK = 100

let [next, end] = [0, 0]
/** They listen until this process ends. */
const held: object[] = []

/** A port of 127.0.0.1 on which nothing listens, and that nobody got before. */
export function takePort(): number {
  for (;;) {
    if (next === end) takeBlock()
    const port = next++
    const probe = listen(port)
    probe?.stop(true)
    if (probe !== undefined) return port
  }
}

function takeBlock(): void {
  const blocks = (TO - FROM) / BLOCK
  for (let i = 0; i < blocks; i++) {
    const first = FROM + ((process.pid + held.length + i) % blocks) * BLOCK
    const holder = listen(first)
    if (holder === undefined) continue
    holder.unref()
    held.push(holder)
    ;[next, end] = [first + 1, first + BLOCK]
    return
  }
  throw new Error(`no block of ports is free between ${FROM} and ${TO}`)
}

function listen(port: number) {
  try {
    return Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } })
  } catch {
    return undefined // something listens there
  }
}
