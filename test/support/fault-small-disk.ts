// A small file system of a test's own, which can be filled to the last byte and emptied again. Only where `missing('tmpfs')` is undefined.
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from './temp-dir.ts'

export type SmallDisk = ReturnType<typeof mountSmallDisk>

/** At `dir`, which is made; at a fresh one when absent. */
export function mountSmallDisk(megabytes: number, dir = tempDir('disk')) {
  mkdirSync(dir, { recursive: true })
  run('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'none', dir)
  const filler = join(dir, 'filler')
  return {
    dir,
    /** Until not a byte goes in any more. */
    fill(): void {
      const file = openSync(filler, 'a')
      for (let bytes = 2 ** 20; bytes >= 1; ) {
        try {
          if (writeSync(file, new Uint8Array(bytes)) < bytes) bytes = Math.floor(bytes / 2)
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
          bytes = Math.floor(bytes / 2)
        }
      }
      closeSync(file)
    },
    /** Gives back what `fill` took. */
    free: () => rmSync(filler, { force: true }),
    /** As a kernel does after an error of the disk. */
    setReadOnly: (isReadOnly: boolean): void => run('mount', '-o', `remount,${isReadOnly ? 'ro' : 'rw'}`, dir),
    unmount(): void {
      run('umount', '-l', dir)
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

function run(...command: string[]): void {
  const { success, stderr } = Bun.spawnSync(command)
  if (!success) throw new Error(`${command.join(' ')}: ${stderr}`)
}
