// The free space of the disk and the files of the directory, read twice a second in the background, so that a request
// costs nothing.
import type { Logger } from '../log.ts'
import type { Disk } from './disk.ts'
import { isMissing } from './segment.ts'

const EVERY_MS = 500

type OnNames = (names: readonly string[] | undefined) => void

export interface DiskWatch {
  /** Was there less free space than the least when it was last looked up? */
  isLow(): boolean
  /** Called with the names in the directory after each look; undefined when the directory does not exist. */
  onNames(note: OnNames): void
  close(): void
}

/** While the disk does not answer, the last answer stands; the failure is logged once. */
export async function watchDisk(disk: Disk, dir: string, leastBytes: number, log: Logger): Promise<DiskWatch> {
  let isLow = false
  let isGone = false
  let isFailing = false
  let isLooking = false
  let noteNames: OnNames | undefined

  const noteFree = (freeBytes: number) => {
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
      const names = await disk.list(dir)
      noteGone(false)
      noteNames?.(names)
      noteFree(await disk.freeBytes(dir))
      isFailing = false
    } catch (err) {
      if (isMissing(err)) {
        noteGone(true)
        noteNames?.(undefined)
      } else if (!isFailing) {
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
  }
  await look()
  const timer = setInterval(lookOnce, EVERY_MS)
  timer.unref()
  return {
    isLow: () => isLow,
    onNames(note) {
      noteNames = note
    },
    close: () => clearInterval(timer),
  }
}
