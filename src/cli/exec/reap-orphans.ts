// Process 1 of a container gets the processes whose parents have ended, and must wait for them: they stay as zombies
// otherwise. The command itself is left to Bun.
import { ptr } from 'bun:ffi'
import { openLibc } from './tee.ts'

const P_ALL = 0
/** WNOHANG, WEXITED and WNOWAIT, which leaves it for another call. */
const PEEK = 0x1 | 0x4 | 0x1000000
const WNOHANG = 1
/** Places in `siginfo_t` on 64-bit Linux, in 32-bit words; 128 bytes in all. */
const PID_AT = 4
const INFO_WORDS = 32

export function reapOrphans(command: number): void {
  if (process.pid !== 1 || process.platform !== 'linux') return
  const libc = openLibc({
    waitid: { args: ['i32', 'i32', 'ptr', 'i32'], returns: 'i32' },
    waitpid: { args: ['i32', 'ptr', 'i32'], returns: 'i32' },
  })
  if (libc === undefined) return
  const info = new Int32Array(INFO_WORDS)
  process.on('SIGCHLD', () => {
    for (;;) {
      info[PID_AT] = 0
      libc.waitid(P_ALL, 0, ptr(info), PEEK)
      const pid = info[PID_AT]
      if (pid === 0 || pid === command) return
      libc.waitpid(pid, null, WNOHANG)
    }
  })
}
