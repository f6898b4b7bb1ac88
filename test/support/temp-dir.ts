// Directories of tests. Under `bun test` the preload makes TMPDIR a directory of this run and removes it when the run ends, so whatever a test
// or a process that it starts leaves there is gone, too. What a killed run left behind is removed by the next one.
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PREFIX = 'stint-tests-'
const MEMORY = '/dev/shm'

/** A new, empty directory. `name` only helps to recognise it. */
export const tempDir = (name = 'dir'): string => mkdtempSync(join(tmpdir(), `stint-${name}-`))

/** The same in memory where there is such a place: thousands of commits would spend minutes in fsync on a disk. */
export const inMemoryDir = (): string =>
  existsSync(MEMORY) ? mkdtempSync(join(MEMORY, `${PREFIX}${process.pid}-`)) : tempDir()

/** Makes TMPDIR a new directory; answers the function that removes it. */
export function useOwnTempDir(): () => void {
  const outer = tmpdir()
  removeAbandoned(outer)
  removeInMemory()
  const own = mkdtempSync(join(outer, `${PREFIX}${process.pid}-`))
  chmodSync(own, 0o711) // some tests start processes as a user without rights
  process.env.TMPDIR = own
  return () => {
    process.env.TMPDIR = outer
    rmSync(own, { recursive: true, force: true })
    removeInMemory(process.pid)
  }
}

/** Removes what processes that have ended left in memory, and what `endingPid` did. */
export function removeInMemory(endingPid?: number): void {
  if (existsSync(MEMORY)) removeAbandoned(MEMORY, endingPid)
}

function removeAbandoned(dir: string, endingPid?: number): void {
  for (const name of readdirSync(dir)) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]
    if (pid !== undefined && (Number(pid) === endingPid || !isRunning(Number(pid))))
      rmSync(join(dir, name), { recursive: true, force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
