// What was open when we were started beyond the three standard ones: `<(…)` of a shell, the jobs of make, the sockets of systemd. Any
// program that runs another passes them on; Bun closes them unless it is told.
import { readdirSync, readlinkSync } from 'node:fs'

/** Bun's own, which it has opened by now. */
const OWN = /^(?:anon_inode:|\/memfd:|\/proc\/)/

/** In order; to be called before we open anything. Empty where there is no /proc. */
export function listInheritedFds(): number[] {
  try {
    return readdirSync('/proc/self/fd')
      .map(Number)
      .filter((fd) => fd > 2 && isInherited(fd))
      .sort((a, b) => a - b)
  } catch {
    return []
  }
}

function isInherited(fd: number): boolean {
  try {
    return !OWN.test(readlinkSync(`/proc/self/fd/${fd}`))
  } catch {
    return false // it was the one that read the directory
  }
}
