// How much room the disk has, looked up twice a second in the background: asking is free.
import type { Logger } from '../log.ts'
import type { Disk } from './disk.ts'

const EVERY_MS = 500

export interface FreeSpace {
  /** Was there less than the least when it was last looked up? */
  isLow(): boolean
  close(): void
}

/** When the disk cannot be asked, it keeps its last answer and says so once. */
export async function watchFreeSpace(disk: Disk, dir: string, leastBytes: number, log: Logger): Promise<FreeSpace> {
  let low = false
  let failing = false
  let looking = false
  const tell = (free: number) => {
    if (low) {
      log.warn({ dir, freeBytes: free, leastBytes }, 'the disk is almost full: events are refused until there is room')
    } else log.info({ dir, freeBytes: free }, 'the disk has room again')
  }
  const look = async () => {
    if (looking) return
    looking = true
    try {
      const free = await freeBytes()
      if (free === undefined || free < leastBytes === low) return
      low = !low
      tell(free)
    } finally {
      looking = false
    }
  }
  const freeBytes = async () => {
    try {
      const free = await disk.freeBytes(dir)
      failing = false
      return free
    } catch (error) {
      const wasFailing = failing
      failing = true
      if (!wasFailing) log.error({ err: error, dir }, 'the free space of the disk cannot be looked up')
      return undefined
    }
  }
  await look()
  const timer = setInterval(look, EVERY_MS)
  timer.unref()
  return { isLow: () => low, close: () => clearInterval(timer) }
}
