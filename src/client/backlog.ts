// Events that could not be sent, in files until Stint has them: one directory and format for `stint exec`, clients and
// the shell. Invariants:
//   1. a sub-directory is for one address and key, named by the first 16 hex digits of SHA-256 over the address, a line
//      feed and the key, so that a file holds neither;
//   2. a file NAME.json is whole and the body of one /v1/batch request: it was written under a name that begins with a
//      dot and ends in .tmp, synced, and renamed;
//   3. any process may send any file, the oldest first, and removes it then. There are no locks: each event has a time
//      of its own, so that one that is sent twice is stored once;
//   4. all files take at most MAX_BYTES on disk, and the oldest go first;
//   5. what Stint refuses for good is kept in refused/ beside the files. `stint flush` sends a file from there once
//   more;
//      what is refused again is in a file whose name begins with again-.
import { createHash } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { nowUs } from './event-times.ts'
import { type Home, isUsable, makeHome } from './homes.ts'

export type Backlog = ReturnType<typeof openBacklog>

export interface Written {
  readonly path: string
  /** Files that were removed to make room. */
  readonly displaced: number
}

export interface Draft extends Written {
  readonly fd: number
  /** The name of the whole file. */
  readonly whole: string
}

export const MAX_BYTES = 32 * 2 ** 20
/** A small file takes a block of the disk. */
const BLOCK_BYTES = 4096
/** No process writes to a draft for longer. */
const ABANDONED_AFTER_MS = 60_000
const SUB_DIRECTORY = /^[0-9a-f]{16}$/
const WHOLE = /^[^.].*\.json$/
const DRAFT = /^\..*\.tmp$/
const REFUSED = 'refused'
const AGAIN = 'again-'
const SILENT = '.silent'

export const nameOf = (url: string, key: string): string =>
  createHash('sha256').update(`${url}\n${key}`).digest('hex').slice(0, 16)

/** The text of a file. A line for each event: what is whole of a torn file can be read. */
export const bodyOf = (events: readonly string[]): string => `[${events.join('\n,')}\n]\n`

/** Writes to the first of `homes` that can be; finds files in all. `everything`: also for other addresses and keys. */
export function openBacklog(homes: readonly Home[], url: string, key: string, everything = false) {
  const name = nameOf(url, key)
  const paths = homes.map(({ path }) => join(path, name))
  const unique = () => `${String(nowUs()).padStart(17, '0')}-${crypto.randomUUID().slice(0, 8)}`

  /** Calls `work` with the first directory in which it succeeds. */
  function place<T>(work: (dir: string, home: string) => T): T {
    let fault: unknown
    for (const home of homes) {
      try {
        makeHome(home)
        const dir = join(home.path, name)
        mkdirSync(dir, { recursive: true, mode: 0o700 })
        return work(dir, home.path)
      } catch (error) {
        fault ??= error
      }
    }
    throw fault ?? new Error('no directory for it is known; name one (STINT_BACKLOG)')
  }

  function write(events: readonly string[], to: (dir: string) => string): Written {
    return place((dir, home) => {
      const text = bodyOf(events)
      const displaced = makeRoom(home, text.length)
      const path = to(dir)
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      const draft = join(dirname(path), `.${basename(path)}.tmp`)
      writeSynced(draft, text)
      renameSync(draft, path)
      return { path, displaced }
    })
  }

  const dirs = () =>
    homes
      .filter(isUsable)
      .flatMap(({ path }) =>
        everything ? listIn(path, SUB_DIRECTORY).map((it) => join(path, it)) : [join(path, name)],
      )

  return {
    /** Where it is as long as that can be written. */
    home: homes[0]?.path ?? '',
    /** Writes events, each an object in JSON, as one file, or as `path`. Throws if no directory takes it. */
    write: (events: readonly string[], path?: string) =>
      write(events, (dir) => {
        if (path === undefined) return join(dir, `${unique()}.json`)
        return join(dir, isRefused(path) ? REFUSED : '', basename(path))
      }),
    /** Paths of the files, the oldest first. */
    list: () =>
      pathsOf(
        dirs().flatMap((dir) => {
          for (const draft of listIn(dir, DRAFT)) rescue(join(dir, draft))
          return filesIn(dir)
        }),
      ),
    /** Paths of the files in refused/ that were not sent once more, the oldest first. */
    listRefused: () =>
      pathsOf(dirs().flatMap((dir) => filesIn(join(dir, REFUSED)))).filter((it) => !basename(it).startsWith(AGAIN)),
    /** The events of a file in JSON; undefined if it is gone. A file that is no list of events moves to refused/. */
    read(path: string): string[] | undefined {
      try {
        const events = parseBody(readFileSync(path, 'utf8'))
        if (events !== undefined) return events
        const refused = isRefused(path) ? join(dirname(path), AGAIN) : join(dirname(path), REFUSED, '/')
        mkdirSync(dirname(refused), { recursive: true, mode: 0o700 })
        renameSync(path, refused + basename(path))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      }
      return undefined
    },
    remove: (path: string) => rmSync(path, { force: true }),
    /** Keeps what Stint refused for good; `from` is the file that held it. */
    refuse: (events: readonly string[], from = '') =>
      void write(events, (dir) => join(dir, REFUSED, `${isRefused(from) ? AGAIN : ''}${unique()}.json`)),
    /** Whether Stint was silent within this time; `note` remembers that it is now. */
    silence: {
      isWithin: (ms: number) => paths.some((dir) => Math.abs(nowUs() / 1000 - modifiedMs(join(dir, SILENT))) < ms),
      note() {
        try {
          place((dir) => writeFileSync(join(dir, SILENT), '\n'))
        } catch {
          // the next one waits as long
        }
      },
      forget() {
        for (const dir of paths) rmSync(join(dir, SILENT), { force: true })
      },
    },
    /** A file that grows and is not whole yet. Throws. */
    openDraft: (): Draft =>
      place((dir, home) => {
        const displaced = makeRoom(home, BLOCK_BYTES)
        const whole = `${unique()}.json`
        const path = join(dir, `.${whole}.tmp`)
        return { path, fd: openSync(path, 'ax', 0o600), whole: join(dir, whole), displaced }
      }),
  }
}

const isRefused = (path: string): boolean => basename(dirname(path)) === REFUSED

/** The oldest first. */
const pathsOf = (files: readonly Entry[]): string[] =>
  files.toSorted((a, b) => a.modifiedMs - b.modifiedMs || (a.path < b.path ? -1 : 1)).map(({ path }) => path)

function writeSynced(path: string, text: string): void {
  const fd = openSync(path, 'w', 0o600)
  try {
    writeFileSync(fd, text)
    fsyncSync(fd)
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  } finally {
    closeSync(fd)
  }
}

/** Undefined if it is no list of events. */
function parseBody(text: string): string[] | undefined {
  try {
    const events: unknown = JSON.parse(text)
    const isList = Array.isArray(events) && events.every((event) => typeof event === 'object' && event !== null)
    return isList ? events.map((event) => JSON.stringify(event)) : undefined
  } catch {
    return undefined
  }
}

/** Makes a whole file of the whole lines of a draft whose process has ended. */
function rescue(draft: string): void {
  try {
    if (nowUs() / 1000 - modifiedMs(draft) < ABANDONED_AFTER_MS) return
    const text = readFileSync(draft, 'utf8')
    const events = parseBody(`${text.slice(0, text.lastIndexOf('\n')).replace(/\n\]$/, '')}\n]`) ?? []
    if (events.length > 0) {
      writeSynced(draft, bodyOf(events))
      renameSync(draft, join(dirname(draft), basename(draft).slice(1, -'.tmp'.length)))
    } else rmSync(draft, { force: true })
  } catch {
    // another process was faster, or it cannot be read
  }
}

interface Entry {
  readonly path: string
  readonly bytes: number
  readonly modifiedMs: number
}

/** Removes the oldest files of all sub-directories until there is room. Returns how many. */
function makeRoom(home: string, bytes: number): number {
  const dirs = listIn(home, SUB_DIRECTORY).flatMap((name) => [join(home, name), join(home, name, REFUSED)])
  const files = dirs.flatMap(filesIn).sort((a, b) => b.modifiedMs - a.modifiedMs)
  let total = files.reduce((sum, file) => sum + file.bytes, Math.max(BLOCK_BYTES, bytes))
  let removed = 0
  while (total > MAX_BYTES && files.length > 0) {
    const oldest = files.pop()!
    rmSync(oldest.path, { force: true })
    total -= oldest.bytes
    removed++
  }
  return removed
}

const filesIn = (dir: string): Entry[] =>
  listIn(dir, WHOLE).flatMap((name) => {
    const path = join(dir, name)
    const found = statSync(path, { throwIfNoEntry: false })
    return found === undefined ? [] : [{ path, bytes: Math.max(BLOCK_BYTES, found.size), modifiedMs: found.mtimeMs }]
  })

/** Empty if there is no such directory, or it cannot be read. */
function listIn(dir: string, name: RegExp): string[] {
  try {
    return readdirSync(dir).filter((it) => name.test(it))
  } catch {
    return []
  }
}

/** −∞ if there is no such file. */
function modifiedMs(path: string): number {
  try {
    return statSync(path).mtimeMs
  } catch {
    return Number.NEGATIVE_INFINITY
  }
}
