// Keeps two processes from sending the same pending events at once. Only to save work: sent twice they would still be stored once.
import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../clock.ts'

export interface FlushLock {
  /** Shows that we are alive. */
  touch(): void
  release(): void
}

const STALE_US = 60_000_000

/** Undefined when somebody else holds it. */
export function takeFlushLock(dir: string, pid: number, clock: Clock): FlushLock | undefined {
  const path = join(dir, 'flush.lock')
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const take = () => {
    try {
      writeFileSync(path, String(pid), { flag: 'wx', mode: 0o600 })
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
      throw error
    }
  }
  if (!take()) {
    if (isHeld(path, clock.wallUs())) return undefined
    rmSync(path, { force: true })
    if (!take()) return undefined
  }
  return {
    touch() {
      const nowS = clock.wallUs() / 1e6
      if (holder(path) === pid) utimesSync(path, nowS, nowS)
    },
    release() {
      if (holder(path) === pid) rmSync(path, { force: true })
    },
  }
}

/** By a process that lives and has shown it lately. */
function isHeld(path: string, nowUs: number): boolean {
  const pid = holder(path)
  const modifiedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs
  if (modifiedMs === undefined || Math.abs(nowUs - modifiedMs * 1000) > STALE_US) return false
  return pid === undefined || isAlive(pid)
}

function holder(path: string): number | undefined {
  try {
    const pid = Number(readFileSync(path, 'utf8'))
    return Number.isInteger(pid) && pid > 0 ? pid : undefined
  } catch {
    return undefined // nobody holds it
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
