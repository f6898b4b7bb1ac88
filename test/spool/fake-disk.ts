// A disk in memory that keeps apart what is written and what is durable, writes down every change in order, and fails on demand.
// A crash after any change can then be replayed: what was not synced is dropped, kept or torn by sectors.
import { dirname } from 'node:path'
import type { Disk, DiskFile, OpenMode, Space } from '../../src/spool/disk.ts'

export const SECTOR_BYTES = 512

/** A call that is about to be made. */
export interface Call {
  readonly op: 'open' | 'read' | 'write' | 'datasync' | 'truncate' | 'rename' | 'unlink' | 'syncDir' | 'list'
  readonly path: string
  /** Counts all calls of this disk, from 0. */
  readonly n: number
}

/** An error to reject with, or for a write how many bytes it takes. */
export type Fault = Error | number

export type Change =
  | { readonly op: 'create'; readonly path: string; readonly inode: number }
  | { readonly op: 'write'; readonly inode: number; readonly at: number; readonly bytes: Uint8Array }
  | { readonly op: 'truncate'; readonly inode: number; readonly bytes: number }
  | { readonly op: 'datasync'; readonly inode: number }
  | { readonly op: 'rename'; readonly from: string; readonly to: string; readonly inode: number }
  | { readonly op: 'unlink'; readonly path: string }
  | { readonly op: 'syncDir'; readonly dir: string }
  /** Not the disk's: what the test has been promised at this point. */
  | { readonly op: 'note'; readonly note: unknown }

/** Bytes [from, to) of a file that every read of them fails at. */
export interface Unreadable {
  readonly path: string
  readonly from: number
  readonly to: number
}

export class FakeDisk implements Disk {
  unreadable: Unreadable[] = []
  readonly names = new Map<string, number>()
  readonly inodes = new Map<number, Uint8Array>()
  readonly changes: Change[] = []
  fault: ((call: Call) => Fault | undefined) | undefined
  /** May change what a read has brought. */
  afterRead: ((into: Uint8Array) => void) | undefined
  free = Number.POSITIVE_INFINITY
  total = 0
  calls = 0
  /** How often the free space was looked up. */
  looks = 0

  note(note: unknown): void {
    this.changes.push({ op: 'note', note })
  }

  contents(path: string): Uint8Array {
    return this.inodes.get(this.names.get(path)!)!
  }

  /** Puts a file there, durable. */
  put(path: string, bytes: Uint8Array): void {
    const inode = this.names.get(path) ?? this.inodes.size + 1
    this.names.set(path, inode)
    this.inodes.set(inode, bytes)
  }

  clone(): FakeDisk {
    const copy = new FakeDisk()
    for (const [path, inode] of this.names) copy.put(path, this.inodes.get(inode)!.slice())
    return copy
  }

  async check(op: Call['op'], path: string): Promise<number | undefined> {
    await undefined
    const fault = this.fault?.({ op, path, n: this.calls++ })
    if (fault instanceof Error) throw fault
    return fault
  }

  async makeDir(): Promise<void> {}

  async list(dir: string): Promise<string[]> {
    await this.check('list', dir)
    return [...this.names.keys()].filter((path) => dirname(path) === dir).map((path) => path.slice(dir.length + 1))
  }

  async open(path: string, how: OpenMode): Promise<DiskFile> {
    await this.check('open', path)
    let inode = this.names.get(path)
    if (how === 'create') {
      if (inode !== undefined) throw errno('EEXIST')
      inode = this.inodes.size + 1
      this.names.set(path, inode)
      this.inodes.set(inode, new Uint8Array(0))
      this.changes.push({ op: 'create', path, inode })
    }
    if (inode === undefined) throw errno('ENOENT')
    return new FakeFile(this, path, inode, how)
  }

  async rename(from: string, to: string): Promise<void> {
    await this.check('rename', from)
    const inode = this.names.get(from)!
    this.names.delete(from)
    this.names.set(to, inode)
    this.changes.push({ op: 'rename', from, to, inode })
  }

  async unlink(path: string): Promise<void> {
    await this.check('unlink', path)
    if (!this.names.delete(path)) throw errno('ENOENT')
    this.changes.push({ op: 'unlink', path })
  }

  async syncDir(dir: string): Promise<void> {
    await this.check('syncDir', dir)
    this.changes.push({ op: 'syncDir', dir })
  }

  async space(): Promise<Space> {
    this.looks++
    return { freeBytes: this.free, totalBytes: this.total }
  }
}

class FakeFile implements DiskFile {
  constructor(
    readonly disk: FakeDisk,
    readonly path: string,
    readonly inode: number,
    readonly how: OpenMode,
  ) {}

  async read(into: Uint8Array, at: number): Promise<number> {
    await this.disk.check('read', this.path)
    const isBad = ({ path, from, to }: Unreadable) => path === this.path && at < to && at + into.length > from
    if (this.disk.unreadable.some(isBad)) throw errno('EIO')
    const bytes = this.disk.inodes.get(this.inode)!.subarray(at, at + into.length)
    into.set(bytes)
    this.disk.afterRead?.(into)
    return bytes.length
  }

  async write(from: Uint8Array, at: number): Promise<number> {
    const short = await this.disk.check('write', this.path)
    const bytes = new Uint8Array(from.subarray(0, short)) // a copy: the writer's buffer goes on changing
    this.disk.inodes.set(this.inode, withWrite(this.disk.inodes.get(this.inode)!, at, bytes))
    this.disk.changes.push({ op: 'write', inode: this.inode, at, bytes })
    if (this.how === 'durable') await this.datasync() // the power may go, or the sync fail, behind a complete write
    return bytes.length
  }

  async datasync(): Promise<void> {
    await this.disk.check('datasync', this.path)
    this.disk.changes.push({ op: 'datasync', inode: this.inode })
  }

  async truncate(bytes: number): Promise<void> {
    await this.disk.check('truncate', this.path)
    this.disk.inodes.set(this.inode, withSize(this.disk.inodes.get(this.inode)!, bytes))
    this.disk.changes.push({ op: 'truncate', inode: this.inode, bytes })
  }

  async size(): Promise<number> {
    return this.disk.inodes.get(this.inode)!.length
  }

  isLinked(): boolean {
    return [...this.disk.names.values()].includes(this.inode)
  }

  async close(): Promise<void> {}
}

export const errno = (code: string): Error => Object.assign(new Error(code), { code })

/** What of the changes since the last sync survives a crash: `keep(i, of)` for the i-th pending sector or name change of `of`. */
export type Survival = (i: number, of: number) => boolean

/** The disk as a restart finds it when the power goes right after `changes` (a prefix of another disk's). */
export function crashAfter(changes: readonly Change[], survives: Survival): FakeDisk {
  const durable = new Map<number, Uint8Array>()
  const pending = new Map<number, Change[]>()
  const names = new Map<string, number>()
  let pendingNames: Change[] = []
  for (const change of changes) {
    switch (change.op) {
      case 'create':
        durable.set(change.inode, new Uint8Array(0))
        pending.set(change.inode, [])
        pendingNames.push(change)
        break
      case 'rename':
      case 'unlink':
        pendingNames.push(change)
        break
      case 'write':
      case 'truncate':
        pending.get(change.inode)!.push(change)
        break
      case 'datasync':
        durable.set(
          change.inode,
          applyAll(durable.get(change.inode)!, pending.get(change.inode)!, () => true),
        )
        pending.set(change.inode, [])
        break
      case 'syncDir':
        for (const waiting of pendingNames) applyName(names, waiting)
        pendingNames = []
        break
    }
  }
  for (const [i, waiting] of pendingNames.entries()) if (survives(i, pendingNames.length)) applyName(names, waiting)
  const disk = new FakeDisk()
  for (const [path, inode] of names) disk.put(path, applyAll(durable.get(inode)!, pending.get(inode)!, survives))
  return disk
}

function applyName(names: Map<string, number>, change: Change): void {
  if (change.op === 'create') names.set(change.path, change.inode)
  if (change.op === 'unlink') names.delete(change.path)
  if (change.op === 'rename') {
    names.delete(change.from)
    names.set(change.to, change.inode)
  }
}

/** Writes reach the disk by sectors, each wholly or not at all; where a file has grown without them it holds zeros. */
function applyAll(durable: Uint8Array, changes: readonly Change[], survives: Survival): Uint8Array {
  const pieces: ({ at: number; bytes: Uint8Array } | { truncate: number })[] = []
  for (const change of changes) {
    if (change.op === 'truncate') pieces.push({ truncate: change.bytes })
    if (change.op !== 'write') continue
    for (let from = 0; from < change.bytes.length; ) {
      const at = change.at + from
      const to = Math.min(change.bytes.length, from + SECTOR_BYTES - (at % SECTOR_BYTES))
      pieces.push({ at, bytes: change.bytes.subarray(from, to) })
      from = to
    }
  }
  let bytes = durable
  for (const [i, piece] of pieces.entries()) {
    if (!survives(i, pieces.length)) continue
    bytes = 'truncate' in piece ? withSize(bytes, piece.truncate) : withWrite(bytes, piece.at, piece.bytes)
  }
  return bytes
}

function withWrite(bytes: Uint8Array, at: number, written: Uint8Array): Uint8Array {
  const result = at + written.length > bytes.length ? withSize(bytes, at + written.length) : bytes.slice()
  result.set(written, at)
  return result
}

function withSize(bytes: Uint8Array, size: number): Uint8Array {
  const result = new Uint8Array(size)
  result.set(bytes.subarray(0, size))
  return result
}
