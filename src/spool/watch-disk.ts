// The free space of the disk and whether the directory is there, looked up in the background, so that a request costs
// nothing.
import type { Logger } from '../log.ts'
import type { Disk, Space } from './disk.ts'
import { isMissing } from './segment.ts'

/** Below this much free space, or this part of the disk if it is less, who sends most is refused first. */
const NEARLY_FULL_BYTES = 256 * 2 ** 20
const NEARLY_FULL_PART = 0.1
/** Near that mark the disk is looked at so much more often. */
const OFTEN = 10

export type DiskWatch = Awaited<ReturnType<typeof watchDisk>>

/** While the disk does not answer, the last answer stands; the failure is logged once. */
export async function watchDisk(disk: Disk, dir: string, leastBytes: number, everyMs: number, log: Logger) {
  let isLow = false
  let noteLook = () => {}
  let newestFree = Number.POSITIVE_INFINITY
  let markBytes = 0
  let isGone = false
  let isFailing = false

  const noteSpace = ({ freeBytes, totalBytes }: Space) => {
    newestFree = freeBytes
    markBytes = Math.min(NEARLY_FULL_BYTES, NEARLY_FULL_PART * totalBytes)
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
      const space = await disk.space(dir)
      noteGone(false)
      noteSpace(space)
      isFailing = false
    } catch (err) {
      if (isMissing(err)) noteGone(true)
      else if (!isFailing) {
        isFailing = true
        log.error({ err, dir }, 'the free space of the disk cannot be looked up')
      }
    }
  }
  const lookAgain = async () => {
    await look()
    noteLook()
    plan()
  }
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  const plan = () => {
    if (isClosed) return
    timer = setTimeout(lookAgain, newestFree < 2 * markBytes ? everyMs / OFTEN : everyMs)
    timer.unref()
  }
  await look()
  plan()
  return {
    /** Was there less free space than the least when it was last looked up? */
    isLow: () => isLow,
    /** The free space then. */
    freeBytes: () => newestFree,
    /** 0 while more is free than the mark, 1 at the least, and between them what is missing of the way. */
    fullness: () => Math.min(1, Math.max(0, (markBytes - newestFree) / Math.max(1, markBytes - leastBytes))),
    /** Called after each look. */
    onLook(note: () => void): void {
      noteLook = note
    },
    /** Was the directory gone? */
    isGone: () => isGone,
    close(): void {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
