// The events of this process in the backlog. Each is in a draft when its call returns: the kernel has it, so that a
// kill of the process does not lose it (a power cut may). A draft becomes a whole file, which others may send, when
// Stint has not taken an event of it, and with the end of the process; otherwise it goes when all its events are
// stored.
import { closeSync, fsync, fsyncSync, ftruncateSync, renameSync, writeSync } from 'node:fs'
import type { Backlog } from './backlog.ts'
import { nowUs } from './event-times.ts'

export interface KeptFile {
  path: string
  /** Events in it that are not settled. */
  open: number
}

export type KeptEvents = ReturnType<typeof keepEvents>

interface OwnDraft extends KeptFile {
  readonly whole: string
  fd: number | undefined
  events: number
  bytes: number
}

const FILE_EVENTS = 1000
const FILE_BYTES = 2 ** 19
const SEARCH_EVERY_US = 30_000_000

export function keepEvents(backlog: Backlog, warn: (text: string) => void) {
  /** Files whose events are in memory. */
  const own = new Set<KeptFile>()
  const sealing = new Map<OwnDraft, number>()
  let current: OwnDraft | undefined
  let overflow: OwnDraft | undefined
  let searchedUs = 0

  const fail = (what: string, error: unknown) =>
    warn(`the backlog cannot be ${what}: ${(error as NodeJS.ErrnoException).code ?? error}`)

  function create(): OwnDraft {
    const { displaced, ...draft } = backlog.openDraft()
    if (displaced > 0) warn(`removed the oldest ${displaced} files of the backlog to make room`)
    return { ...draft, open: 0, events: 0, bytes: 0 }
  }

  function remove(file: KeptFile): void {
    own.delete(file)
    backlog.remove(file.path)
  }

  function finish(draft: OwnDraft): void {
    const fd = sealing.get(draft)
    if (fd === undefined) return
    sealing.delete(draft)
    try {
      closeSync(fd)
      renameSync(draft.path, draft.whole)
      draft.path = draft.whole
      if (draft.open === 0) remove(draft)
    } catch {
      // another process took it for abandoned, and has sent it
    }
  }

  /** Nothing is added to it any more. */
  function end(draft: OwnDraft): void {
    if (current === draft) current = undefined
    if (overflow === draft) overflow = undefined
    if (draft.fd === undefined) return
    sealing.set(draft, draft.fd)
    try {
      writeSync(draft.fd, ']\n')
    } catch (error) {
      fail('written', error) // its whole lines can be read
    }
    draft.fd = undefined
  }

  const seal = (draft: OwnDraft): Promise<void> =>
    new Promise((resolve) => {
      const { fd } = draft
      end(draft)
      if (fd === undefined) return resolve()
      fsync(fd, () => {
        finish(draft)
        resolve()
      })
    })

  return {
    /** Writes an event to the disk; one of `later` comes back by `adopt`. Undefined when that is not possible. */
    keep(event: string, later: boolean): KeptFile | undefined {
      try {
        let draft = later ? overflow : current
        if (draft !== undefined && (draft.events >= FILE_EVENTS || draft.bytes >= FILE_BYTES)) {
          void seal(draft)
          draft = undefined
        }
        if (draft === undefined) {
          draft = create()
          if (later) overflow = draft
          else {
            current = draft
            own.add(draft)
          }
        }
        const line = Buffer.from(`${draft.events === 0 ? '[' : ','}${event}\n`)
        draft.events++
        draft.open++
        draft.bytes += line.length
        if (writeSync(draft.fd!, line) === line.length) return draft
        draft.open--
        void seal(draft) // a torn line: nothing may follow it
        warn('the backlog cannot be written: short write')
      } catch (error) {
        fail('written', error)
      }
      return undefined
    },
    settle(file: KeptFile): void {
      file.open--
      if (file.open > 0) return
      try {
        if (file !== current) remove(file)
        else {
          ftruncateSync(current.fd!)
          current.events = 0
          current.bytes = 0
        }
      } catch {
        // it stays, and is sent again
      }
    },
    /** Lets other processes send what is not settled. */
    share(): void {
      if (current !== undefined && current.open > 0) void seal(current)
    },
    /** Keeps what Stint refused for good. */
    refuse(events: readonly string[]): void {
      try {
        backlog.refuse(events)
      } catch (error) {
        fail('written', error)
      }
    },
    /** Events of the oldest file that is not in the memory of this process; undefined without one. */
    async adopt(): Promise<{ readonly line: string; readonly file: KeptFile }[] | undefined> {
      try {
        if (overflow !== undefined) {
          await seal(overflow)
          searchedUs = 0
        }
        if (nowUs() - searchedUs < SEARCH_EVERY_US) return undefined
        const ours = new Set([...own].map(({ path }) => path))
        for (const path of backlog.list().filter((it) => !ours.has(it))) {
          const events = backlog.read(path)
          if (events === undefined) continue
          const file: KeptFile = { path, open: events.length }
          if (events.length === 0) {
            remove(file)
            continue
          }
          own.add(file)
          return events.map((line) => ({ line, file }))
        }
        searchedUs = nowUs()
      } catch (error) {
        fail('read', error)
      }
      return undefined
    },
    /** For the exit of the process. */
    close(): void {
      for (const draft of [current, overflow]) {
        if (draft === undefined) continue
        const { fd } = draft
        end(draft)
        try {
          if (draft.open > 0) fsyncSync(fd!)
        } catch (error) {
          fail('written', error)
        }
      }
      for (const draft of [...sealing.keys()]) finish(draft)
    },
  }
}
