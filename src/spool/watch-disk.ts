// The free space of the disk and whether the directory is there, looked up in the background, so that a request costs
// nothing.
import type { Logger } from '../log.ts'
import type { Disk } from './disk.ts'
import { isMissing } from './segment.ts'

export type DiskWatch = Awaited<ReturnType<typeof watchDisk>>

/** While the disk does not answer, the last answer stands; the failure is logged once. */
export async function watchDisk(disk: Disk, dir: string, leastBytes: number, everyMs: number, log: Logger) {
  let isLow = false
  let noteLook = () => {}
  let newestFree = Number.POSITIVE_INFINITY
  let isGone = false
  let isFailing = false
  let isLooking = false

  const noteFree = (freeBytes: number) => {
    newestFree = freeBytes
    if (freeBytes < leastBytes === isLow) return
    isLow = !isLow
    if (isLow)
      log.warn({ dir, freeBytes, leastBytes }, 'the disk is almost full: events are refused until there is room')
    else log.info({ dir, freeBytes }, 'the disk has room again')
  }
  const noteGone = (gone: boolean) => {
    if (gone !== isGone && gone)
      log.error({ dir }, 'the directory of the spool was deleted: events are refused; restore it and restart')
    isGone = gone
  }
  const look = async () => {
    try {
      const freeBytes = await disk.freeBytes(dir)
      noteGone(false)
      noteFree(freeBytes)
      isFailing = false
    } catch (err) {
      if (isMissing(err)) noteGone(true)
      else if (!isFailing) {
        isFailing = true
        log.error({ err, dir }, 'the free space of the disk cannot be looked up')
      }
    }
  }
  const lookOnce = async () => {
    if (isLooking) return
    isLooking = true
    await look()
    isLooking = false
    noteLook()
  }
  await look()
  const timer = setInterval(lookOnce, everyMs)
  timer.unref()
  return {
    /** Was there less free space than the least when it was last looked up? */
    isLow: () => isLow,
    /** The free space then. */
    freeBytes: () => newestFree,
    /** Called after each look. */
    onLook(note: () => void): void {
      noteLook = note
    },
    /** Was the directory gone? */
    isGone: () => isGone,
    close: () => clearInterval(timer),
  }
}
