// Transactions whose syncs run on the runtime's thread pool: a slow disk then delays their callers and not
// the event loop. Transactions that arrive while others are synced come next, and share their syncs:
//
//   transactions → fdatasync(WAL): durable → copied into the file → fdatasync(file) → WAL emptied → resolve
//
// * SQLite itself syncs nothing in these steps. A next transaction would write over the WAL, so it waits until the file
//   is synced.
// * The descriptors close after the database: closing one gives up every lock that the process has on the file.
import type { Database } from 'bun:sqlite'
import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

/** More wait for the next syncs: a thousand at once would hold the event loop up for 100 ms. */
const ROUND_MAX = 50

const sync = promisify(fdatasync)
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

interface Queued {
  run(): void
  settle(fault?: { readonly cause: unknown }): void
}

interface QueuedCommitsOptions {
  readonly db: Database
  readonly path: string
  /** Empties the WAL once the file holds what it held. */
  emptyWal(): void
  /** Committed changes are durable in the WAL and were not copied: the next commit tries again. */
  warn(error: unknown): void
}

export type QueuedCommits = ReturnType<typeof createQueuedCommits>

export function createQueuedCommits({ db, path, emptyWal, warn }: QueuedCommitsOptions) {
  const queue: Queued[] = []
  let working: Promise<void> | undefined
  let files: { readonly wal: number; readonly main: number } | undefined
  /** The WAL was copied into the file, which is not synced yet. */
  let isCopied = false
  /** The entry of the WAL in its directory is durable; SQLite creates the file once per opening. */
  let isWalPlaced = false

  const openFiles = () => {
    files ??= { wal: openSync(`${path}-wal`, 'r'), main: openSync(path, 'r') }
    return files
  }

  function unsynced(work: () => void): void {
    db.run('PRAGMA synchronous = OFF')
    try {
      work()
    } finally {
      db.run('PRAGMA synchronous = FULL')
    }
  }

  async function syncWal(): Promise<void> {
    await sync(openFiles().wal)
    if (isWalPlaced) return
    await using dir = await open(dirname(path), 'r')
    await dir.sync()
    isWalPlaced = true
  }

  async function syncCopied(): Promise<void> {
    if (!isCopied) return
    await sync(openFiles().main)
    isCopied = false
  }

  async function commitAll(round: readonly Queued[]): Promise<void> {
    await syncCopied() // left over when the last sync failed
    unsynced(() => {
      for (const { run } of round) run()
    })
    await syncWal()
    try {
      isCopied = true
      unsynced(() => db.run('PRAGMA wal_checkpoint(PASSIVE)'))
      await syncCopied()
      emptyWal()
    } catch (error) {
      warn(error)
    }
  }

  async function work(): Promise<void> {
    for (await nextTurn(); queue.length > 0; await nextTurn()) {
      const round = queue.splice(0, ROUND_MAX)
      try {
        await commitAll(round)
        for (const { settle } of round) settle()
      } catch (cause) {
        for (const { settle } of round) settle({ cause })
      }
    }
    working = undefined
  }

  return {
    /**
     * Runs `change` in a transaction of its own, soon; durable when it resolves. Rejects with what `change` throws,
     * which rolls it back, or with the error of a sync: then the outcome is unknown.
     */
    commit<T>(change: () => T): Promise<T> {
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      let outcome: (() => void) | undefined
      queue.push({
        run() {
          try {
            const result = db.transaction(change).immediate()
            outcome = () => resolve(result)
          } catch (error) {
            outcome = () => reject(error)
          }
        },
        settle: (fault) => (fault === undefined ? outcome!() : reject(fault.cause)),
      })
      working ??= work()
      return promise
    },
    /** Call it before a transaction that is not queued here. */
    yieldFile(): void {
      if (!isCopied) return
      fdatasyncSync(openFiles().main)
      isCopied = false
    },
    /** Resolves when nothing is queued. */
    settled: async (): Promise<void> => await working,
    close(): void {
      if (files !== undefined) for (const fd of Object.values(files)) closeSync(fd)
      files = undefined
    },
  }
}
