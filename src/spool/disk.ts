// The part of the file system that a spool uses, passed in so that a test can fail any call, tear any write and drop unsynced data. Every call
// runs on the thread pool: a slow disk never blocks the event loop.
import fs from 'node:fs'
import { dirname, resolve } from 'node:path'

export interface DiskFile {
  /** Fills `into` from `at` on; answers the bytes read, fewer than asked for only at the end of the file. */
  read(into: Uint8Array, at: number): Promise<number>
  /** One write; answers the bytes written, which may be fewer than given. */
  write(from: Uint8Array, at: number): Promise<number>
  /** Resolves when the written data and the file's size are on the disk. */
  datasync(): Promise<void>
  truncate(bytes: number): Promise<void>
  size(): Promise<number>
  /** False when someone has deleted the file. Synchronous: asked after each commit, it needs no disk. */
  isLinked(): boolean
  close(): Promise<void>
}

export interface Disk {
  /** With all missing parents, durable. */
  makeDir(path: string): Promise<void>
  /** Names in the directory, in no order. */
  list(dir: string): Promise<string[]>
  /** `create` fails if the file exists; `read` and `write` fail if it does not. */
  open(path: string, how: 'read' | 'write' | 'create'): Promise<DiskFile>
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  /** Creations, renames and removals in the directory are on the disk when it resolves. */
  syncDir(dir: string): Promise<void>
  /** Bytes that an unprivileged writer may still fill. */
  freeBytes(dir: string): Promise<number>
}

const FLAGS = { read: 'r', write: 'r+', create: 'wx+' } as const

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
  open: async (path, how) => new SystemFile(await call<number>((done) => fs.open(path, FLAGS[how], 0o600, done))),
  rename: (from, to) => fs.promises.rename(from, to),
  unlink: (path) => fs.promises.unlink(path),
  syncDir,
  freeBytes: async (dir) => {
    const { bavail, bsize } = await fs.promises.statfs(dir)
    return bavail * bsize
  },
}

/** Writes all of it or rejects: on a regular file a short write is a fault. Asking for the rest tells which (a full disk, mostly). */
export async function writeAll(file: DiskFile, from: Uint8Array, at: number): Promise<void> {
  const written = await file.write(from, at)
  if (written === from.length) return
  await file.write(from.subarray(written), at + written)
  throw new Error(`short write: ${written} of ${from.length} bytes`)
}
