// Directories of tests. Under `bun test` the preload makes TMPDIR a directory of this run and removes it when the run ends, so whatever a test
// or a process that it starts leaves there is gone, too. What a killed run left behind is removed by the next one.
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PREFIX = 'stint-tests-'
const MEMORY = '/dev/shm'
/** Must be free, beside three quarters of it: containers often have 64 MiB, and no run may take all memory. */
const MEMORY_BYTES = 2 * 2 ** 30
const MOUNTS = '/proc/self/mounts'

/** A new, empty directory. `name` only helps to recognise it. */
export const tempDir = (name = 'dir'): string => mkdtempSync(join(tmpdir(), `stint-${name}-`))

/** The same in memory where there is room: thousands of commits would spend minutes in fsync on a disk. */
export const inMemoryDir = (): string =>
  hasMemory() ? mkdtempSync(join(MEMORY, `${PREFIX}${process.pid}-`)) : tempDir()

function hasMemory(): boolean {
  if (!existsSync(MEMORY)) return false
  const { bavail, bsize, blocks } = statfsSync(MEMORY)
  return bavail * bsize > MEMORY_BYTES && bavail > 0.75 * blocks
}

/** Makes TMPDIR a new directory; answers the function that removes it. */
export function useOwnTempDir(): () => void {
  const outer = tmpdir()
  removeAbandoned(outer)
  removeInMemory()
  const own = mkdtempSync(join(outer, `${PREFIX}${process.pid}-`))
  chmodSync(own, 0o711) // some tests start processes as a user without rights
  process.env.TMPDIR = own
  process.env.XDG_STATE_HOME = join(own, 'state') // clients keep events there
  return () => {
    process.env.TMPDIR = outer
    rmSync(own, { recursive: true, force: true })
    removeInMemory(process.pid)
  }
}

/** Removes what processes that have ended left in memory, and what `endingPid` did. */
function removeInMemory(endingPid?: number): void {
  if (existsSync(MEMORY)) removeAbandoned(MEMORY, endingPid)
}

/** A directory that cannot be removed is named and passed over: it must not fail a later run. */
function removeAbandoned(dir: string, endingPid?: number): void {
  for (const name of readdirSync(dir)) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]
    if (pid === undefined || (Number(pid) !== endingPid && isRunning(Number(pid)))) continue
    const path = join(dir, name)
    try {
      unmountBelow(path)
      rmSync(path, { recursive: true, force: true })
    } catch (error) {
      console.error(`cannot remove ${path}, which a killed test run left: ${(error as Error).message}`)
    }
  }
}

/** The small file systems of tests that fill a disk. */
function unmountBelow(path: string): void {
  if (!existsSync(MOUNTS)) return
  const places = readFileSync(MOUNTS, 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
  for (const place of places) if (place.startsWith(`${path}/`)) Bun.spawnSync(['umount', '--lazy', place])
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
