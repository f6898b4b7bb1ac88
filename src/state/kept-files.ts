// The parts of DATA_DIR that must not vanish. A program can write to an open file after it was deleted, and the
// embedded engine creates its directory again: everything written then is gone at the next start.
import { closeSync, existsSync, lstatSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'

export type KeptFiles = ReturnType<typeof openKeptFiles>

/** Parts that do not exist yet are not looked at. */
export function openKeptFiles(paths: readonly string[]) {
  const kept = paths.filter((path) => existsSync(path)).map(keep)
  return {
    /** Why nothing must be stored now: the first part that is not what it was at the start; undefined if all are. */
    lost(): string | undefined {
      const path = kept.find(({ path, inode }) => inodeOf(path) !== inode)?.path
      return (
        path && `${path} was deleted while Stint runs: restore it from a backup and restart; events wait until then`
      )
    },
    close(): void {
      for (const { descriptor } of kept) if (descriptor !== undefined) closeSync(descriptor)
    },
  }
}

/**
 * An inode in use is not given to another file. A descriptor keeps a directory's in use. A database's is kept by
 * SQLite: closing a second descriptor would release its lock.
 */
const keep = (path: string) => ({
  path,
  inode: inodeOf(path),
  descriptor: statSync(path).isDirectory() ? openSync(path, 'r') : undefined,
})

const inodeOf = (path: string): bigint | undefined => statSync(path, { bigint: true, throwIfNoEntry: false })?.ino

/**
 * Without accounts.sqlite the first visitor would become the operator, and own what is there. Throws an Error whose
 * message is for the operator.
 */
export function refuseLostAccounts(dir: string): void {
  const accounts = join(dir, 'accounts.sqlite')
  if (lstatSync(accounts, { throwIfNoEntry: false }) !== undefined) return // whatever it is: it is opened next
  // a disk of its own for the engine has a directory before the first start
  const left = existsSync(join(dir, 'clickhouse/store')) ? 'clickhouse' : 'watches.sqlite'
  if (!existsSync(join(dir, left))) return
  throw new Error(
    `${accounts} is missing, but ${join(dir, left)} is there: put a backup of accounts.sqlite in its place, or ` +
      `set DATABASE_URL if the accounts are in PostgreSQL. To start over without them, move ${left} away.`,
  )
}
