// Ctrl-C, `kill -- -GROUP`, `timeout` and most supervisors signal the whole process group: the command has the signal already, and passing
// it on would make it two. Who sent a signal to whom cannot be asked, so a `cat` waits in the same group: it dies of what went to all.
import { readFileSync } from 'node:fs'
import type { Clock } from '../../clock.ts'

export interface GroupWitness {
  /** Was the signal that has just arrived sent to the whole group? False where no witness can be had. */
  saw(signal: NodeJS.Signals): Promise<boolean>
  close(): void
}

const WAIT_MS = 20
/** A death tells of every such signal of about the same time, also of one that comes before the next witness is there. */
const TOGETHER_US = 250_000

export function createGroupWitness(clock: Clock): GroupWitness {
  let isClosed = false
  let witness: Bun.Subprocess | undefined
  const deaths = new Map<NodeJS.Signals | number, number>()

  function hire(): void {
    try {
      // Ends with us, however we end: its stdin closes.
      const hired = Bun.spawn(['cat'], { stdin: 'pipe', stdout: 'ignore', stderr: 'ignore' })
      hired.unref()
      void hired.exited.then(() => mourn(hired))
      witness = hired
    } catch {
      witness = undefined
    }
  }
  function mourn({ signalCode }: Bun.Subprocess): void {
    if (isClosed || signalCode === null) return
    deaths.set(signalCode, clock.monotonicUs())
    hire()
  }
  const diedLately = (signal: NodeJS.Signals) =>
    clock.monotonicUs() - (deaths.get(signal) ?? Number.NEGATIVE_INFINITY) < TOGETHER_US

  hire()
  return {
    async saw(signal) {
      if (diedLately(signal)) return true
      if (witness === undefined) return false
      const { pid } = witness
      await Promise.race([witness.exited, Bun.sleep(WAIT_MS)])
      return diedLately(signal) || isDying(pid)
    },
    close() {
      isClosed = true
      witness?.kill('SIGKILL')
    },
  }
}

/** On a machine that is busy a process may not have come to die yet. */
function isDying(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    return /^State:\s*[ZX]/m.test(status) || /^(SigPnd|ShdPnd):.*[1-9a-f]/m.test(status)
  } catch {
    return false // gone and told already, or no /proc here
  }
}
