// The part of the file system that a spool uses, passed in so that a test can fail any call, tear any write and drop
// unsynced data. Every call runs on the thread pool: a slow disk never blocks the event loop.
import fs from 'node:fs'
import { dirname, resolve } from 'node:path'

export interface DiskFile {
  /** Fills `into` from `at` on; returns the count of bytes read, fewer than asked for only at the end of the file. */
  read(into: Uint8Array, at: number): Promise<number>
  /**
   * One write; returns the bytes written, which may be fewer than given. Of a file opened `durable` they are on the
   * disk.
   */
  write(from: Uint8Array, at: number): Promise<number>
  /** Resolves when the written data and the file's size are on the disk. */
  datasync(): Promise<void>
  truncate(bytes: number): Promise<void>
  size(): Promise<number>
  /** False when someone has deleted the file. Synchronous: asked after each commit, it needs no disk. */
  isLinked(): boolean
  close(): Promise<void>
}

export type OpenMode = 'read' | 'write' | 'create' | 'durable'

export interface Disk {
  /** With all missing parents, durable. */
  makeDir(path: string): Promise<void>
  /** Names in the directory, in no order. */
  list(dir: string): Promise<string[]>
  /**
   * `create` fails if the file exists, the others if it does not. `durable` is `write` with each write on the disk when
   * it resolves; after a rejected or short one any part of it may be there.
   */
  open(path: string, how: OpenMode): Promise<DiskFile>
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  /** Creations, renames and removals in the directory are on the disk when it resolves. */
  syncDir(dir: string): Promise<void>
  /** Bytes that an unprivileged writer may still fill, and all that the file system has. */
  space(dir: string): Promise<Space>
}

export interface Space {
  readonly freeBytes: number
  readonly totalBytes: number
}

const FLAGS = {
  read: 'r',
  write: 'r+',
  create: 'wx+',
  durable: fs.constants.O_RDWR | (fs.constants.O_DSYNC ?? 0),
} as const satisfies Record<OpenMode, string | number>

/**
 * The types of file systems, from Linux's statfs, on which O_DSYNC makes a write durable: one trip to the thread pool
 * per commit instead of two. Others (network and FUSE file systems, overlays over anything) accept the flag, and some
 * ignore it: there an fdatasync follows each write.
 */
const HONOURS_DSYNC: ReadonlySet<number> = new Set([
  0xef53, // ext4
  0x58465342, // XFS
  0x9123683e, // Btrfs
  0x2fc12fc1, // ZFS
])

type Done<T> = (error: Error | null, value: T) => void

/** A callback of node:fs as a promise; plain descriptors cost less than FileHandles. */
function call<T = void>(start: (done: Done<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => start((error, value) => (error ? reject(error) : resolve(value))))
}

class SystemFile implements DiskFile {
  constructor(readonly fd: number) {}

  async read(into: Uint8Array, at: number): Promise<number> {
    let filled = 0
    while (filled < into.length) {
      const n = await call<number>((done) => fs.read(this.fd, into, filled, into.length - filled, at + filled, done))
      if (n === 0) break
      filled += n
    }
    return filled
  }

  write(from: Uint8Array, at: number): Promise<number> {
    return call<number>((done) => fs.write(this.fd, from, 0, from.length, at, done))
  }

  datasync(): Promise<void> {
    return call((done) => fs.fdatasync(this.fd, done as Done<void>))
  }

  truncate(bytes: number): Promise<void> {
    return call((done) => fs.ftruncate(this.fd, bytes, done as Done<void>))
  }

  async size(): Promise<number> {
    return (await call<fs.Stats>((done) => fs.fstat(this.fd, done))).size
  }

  isLinked(): boolean {
    return fs.fstatSync(this.fd).nlink > 0
  }

  close(): Promise<void> {
    return call((done) => fs.close(this.fd, done as Done<void>))
  }
}

/** For file systems that may ignore O_DSYNC. */
class SyncedFile extends SystemFile {
  override async write(from: Uint8Array, at: number): Promise<number> {
    const written = await super.write(from, at)
    await this.datasync()
    return written
  }
}

async function honoursDsync(path: string): Promise<boolean> {
  return process.platform === 'linux' && HONOURS_DSYNC.has((await fs.promises.statfs(path)).type)
}

async function syncDir(dir: string): Promise<void> {
  const fd = await call<number>((done) => fs.open(dir, 'r', done))
  try {
    await call((done) => fs.fsync(fd, done as Done<void>))
  } finally {
    await call((done) => fs.close(fd, done as Done<void>))
  }
}

export const systemDisk: Disk = {
  makeDir: async (path) => {
    const made = await fs.promises.mkdir(path, { recursive: true, mode: 0o700 })
    if (made === undefined) return
    for (let dir = resolve(path); dir.length >= resolve(made).length; dir = dirname(dir)) await syncDir(dirname(dir))
  },
  list: (dir) => fs.promises.readdir(dir),
  open: async (path, how) => {
    const isSynced = how === 'durable' && !(await honoursDsync(path))
    const fd = await call<number>((done) => fs.open(path, FLAGS[how], 0o600, done))
    return isSynced ? new SyncedFile(fd) : new SystemFile(fd)
  },
  rename: (from, to) => fs.promises.rename(from, to),
  unlink: (path) => fs.promises.unlink(path),
  syncDir,
  space: async (dir) => {
    const { bavail, blocks, bsize } = await fs.promises.statfs(dir)
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
  },
}

/**
 * Writes all of it or rejects: on a regular file a short write is a fault. Asking for the rest tells which (a full
 * disk, mostly).
 */
export async function writeAll(file: DiskFile, from: Uint8Array, at: number): Promise<void> {
  const written = await file.write(from, at)
  if (written === from.length) return
  await file.write(from.subarray(written), at + written)
  throw new Error(`short write: ${written} of ${from.length} bytes`)
}
