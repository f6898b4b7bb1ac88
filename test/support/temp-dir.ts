// Directories of tests. All lie in one directory of this test process, which is removed when the process ends, however its tests went
// (test/support/preload.ts); one that a killed process left behind is removed by the next run.
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PREFIX = 'stint-tests-'
let root: string | undefined

/** A new, empty directory. `name` only helps to recognise it. */
export function tempDir(name = 'dir'): string {
  root ??= mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`))
  mkdirSync(root, { recursive: true }) // an afterAll of the preload may have removed it already
  return mkdtempSync(join(root, `${name}-`))
}

/** Removes the directories of this process, and those of processes that no longer run. */
export function removeTempDirs(): void {
  if (root !== undefined) rmSync(root, { recursive: true, force: true })
  for (const name of readdirSync(tmpdir())) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]
    if (pid !== undefined && Number(pid) !== process.pid && !isRunning(Number(pid)))
      rmSync(join(tmpdir(), name), { recursive: true, force: true })
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
