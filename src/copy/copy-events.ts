// Moves the events of a scan into a target, family by family, in bounded memory. Invariants:
// - A family's progress is written after its events are stored: a kill at any moment repeats, and never skips.
// - While one chunk is written the next is read; no more than these two are in memory.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Event, Family } from '../event/event.ts'
import { createBackoff, pause } from '../ship/backoff.ts'
import { type Chunk, type Counts, NO_COUNTS, type Scan, type ScanSelection } from '../store/scan.ts'
import { StoreError } from '../store/source.ts'
import { addCounts, totalOf } from './compare-stores.ts'
import { CopyError } from './places.ts'
import type { ProgressLine } from './show-progress.ts'

interface CopyOptions {
  readonly scan: Scan
  readonly families: readonly Family[]
  readonly selection: ScanSelection
  /** Resolves when the events are stored. */
  write(family: Family, events: readonly Event[]): Promise<void>
  /** The progress of an interrupted copy; undefined for a file, which is written as a whole. */
  readonly progress: Progress | undefined
  saveProgress(progress: Progress): void
  readonly line: ProgressLine
  readonly signal: AbortSignal
}

const READ_TRIES = 6
const READ_CAP_MS = 10_000

/** Returns the counts of this run. Throws CopyError, or the signal's reason. */
export async function copyEvents(options: CopyOptions): Promise<Counts> {
  const { families, progress, saveProgress, line, signal } = options
  const done = { ...progress?.done }
  const before = progress?.events ?? 0
  let counts = NO_COUNTS
  for (const family of families) {
    if (done[family] === null) continue
    for await (const { events, cursor } of readAhead(readPatiently(options, family, done[family]))) {
      signal.throwIfAborted()
      await options.write(family, events)
      counts = addCounts(counts, events)
      done[family] = cursor
      saveProgress({ done, events: before + totalOf(counts) })
      line.show(before + totalOf(counts))
      await nextTurn() // an interruption must be heard
    }
    done[family] = null
    saveProgress({ done, events: before + totalOf(counts) })
  }
  return counts
}

/** A source that fails for a moment is asked again, behind the last chunk. */
async function* readPatiently(
  { scan, selection, line, signal }: CopyOptions,
  family: Family,
  after: string | undefined,
): AsyncGenerator<Chunk, void> {
  let cursor = after
  const backoff = createBackoff()
  for (let tries = 1; ; tries++) {
    try {
      for await (const chunk of scan.read(family, selection, cursor)) {
        yield chunk
        cursor = chunk.cursor
        tries = 1
        backoff.reset()
      }
      return
    } catch (cause) {
      if (!(cause instanceof StoreError)) throw cause
      if (tries === READ_TRIES) throw new CopyError(`the source cannot be read: ${cause.message}`, { cause })
      line.say(`Source not readable, trying again: ${cause.message}`)
      await pause(500 + backoff.nextMs(READ_CAP_MS), signal)
      signal.throwIfAborted()
    }
  }
}

/** The same, with the next one being read while the caller works on this one. */
async function* readAhead<T>(items: AsyncGenerator<T, void>): AsyncGenerator<T, void> {
  let next = items.next()
  try {
    for (;;) {
      const { value, done } = await next
      if (done || value === undefined) return
      next = items.next()
      next.catch(() => {}) // met above
      yield value
    }
  } finally {
    await next.catch(() => {})
    await items.return()
  }
}

// The progress of a copy: DATA_DIR/copy.json, so that the same command continues after an interruption. Without it a
// copy only begins again, and writes what is there already over itself.
export interface Progress {
  /** The cursor behind the stored events, per family that was begun; null when all of it is stored. */
  readonly done: Readonly<Partial<Record<Family, string | null>>>
  /** Events delivered so far. */
  readonly events: number
}

/** `route` names source and target: the progress of another copy is ignored. */
export function createProgressFile(dataDir: string, route: string) {
  const path = join(dataDir, 'copy.json')
  return {
    /** Undefined when no copy between these places was interrupted. */
    read(): Progress | undefined {
      try {
        const { route: found, ...progress } = JSON.parse(readFileSync(path, 'utf8'))
        return found === route ? progress : undefined
      } catch {
        return undefined // none, or cut short by a power loss
      }
    },
    write(progress: Progress): void {
      writeFileSync(`${path}.new`, JSON.stringify({ route, ...progress }))
      renameSync(`${path}.new`, path)
    },
    remove: (): void => rmSync(path, { force: true }),
  }
}
