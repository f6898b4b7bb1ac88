// Archives that are the same byte for byte for the same files: sorted names, one fixed time, no owner.
import { crc32, deflateRawSync, gzipSync } from 'node:zlib'

export interface ArchiveFile {
  readonly content: string | Uint8Array
  readonly isExecutable?: boolean
}

/** Keyed by path, with `/`. */
export type ArchiveFiles = Readonly<Record<string, ArchiveFile | string | Uint8Array>>

/** https://reproducible-builds.org/specs/source-date-epoch, or 1985-10-26T08:15:00Z as in npm: zip starts at 1980. */
const MTIME_S = Number(process.env.SOURCE_DATE_EPOCH ?? 499_162_500)
const MTIME = new Date(MTIME_S * 1_000)
const DOS_TIME = (MTIME.getUTCHours() << 11) | (MTIME.getUTCMinutes() << 5) | (MTIME.getUTCSeconds() >> 1)
const DOS_DATE = ((MTIME.getUTCFullYear() - 1980) << 9) | ((MTIME.getUTCMonth() + 1) << 5) | MTIME.getUTCDate()
const BLOCK = 512

interface Entry {
  readonly path: string
  readonly bytes: Buffer
  readonly isExecutable: boolean
}

function entriesOf(files: ArchiveFiles): Entry[] {
  return Object.keys(files)
    .sort()
    .map((path) => {
      const file = files[path]!
      const { content, isExecutable = false } =
        typeof file === 'string' || file instanceof Uint8Array ? { content: file } : file
      return { path, bytes: Buffer.from(content as string), isExecutable }
    })
}

/** A gzipped ustar archive. Throws for a path that ustar cannot hold. */
export function toTarGz(files: ArchiveFiles): Uint8Array {
  const blocks = entriesOf(files).flatMap(({ path, bytes, isExecutable }) => [
    tarHeader(path, bytes.length, isExecutable ? 0o755 : 0o644),
    bytes,
    Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK),
  ])
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]), { level: 9 })
}

function tarHeader(path: string, size: number, mode: number): Buffer {
  const cut = path.length <= 100 ? -1 : path.lastIndexOf('/', 155)
  const [prefix, name] = [path.slice(0, Math.max(cut, 0)), path.slice(cut + 1)]
  if (name.length > 100) throw new Error(`${path} is too long for a tar archive`)
  const header = Buffer.alloc(BLOCK)
  const octal = (value: number, at: number, width: number) =>
    header.write(`${value.toString(8).padStart(width - 1, '0')}\0`, at)
  header.write(name, 0)
  octal(mode, 100, 8)
  octal(0, 108, 8)
  octal(0, 116, 8)
  octal(size, 124, 12)
  octal(MTIME_S, 136, 12)
  header.write('        0', 148) // spaces in place of the checksum, then the type: a file
  header.write('ustar\x0000', 257)
  header.write(prefix, 345)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

/** A zip archive without extra fields. */
export function toZip(files: ArchiveFiles): Uint8Array {
  const bodies: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { path, bytes, isExecutable } of entriesOf(files)) {
    const name = Buffer.from(path)
    const packed = deflateRawSync(bytes, { level: 9 })
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0) // version 2.0
    common.writeUInt16LE(0x800, 2) // names in UTF-8
    common.writeUInt16LE(8, 4) // deflate
    common.writeUInt16LE(DOS_TIME, 6)
    common.writeUInt16LE(DOS_DATE, 8)
    common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(bytes.length, 18)
    common.writeUInt16LE(name.length, 22)
    const attributes = Buffer.alloc(14)
    attributes.writeUInt32LE(((isExecutable ? 0o100755 : 0o100644) << 16) >>> 0, 6)
    attributes.writeUInt32LE(offset, 10)
    directory.push(Buffer.from('PK\x01\x02\x14\x03', 'latin1'), common, attributes, name)
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, name, packed])
    bodies.push(local)
    offset += local.length
  }
  const central = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 0, 'latin1')
  end.writeUInt16LE(bodies.length, 8)
  end.writeUInt16LE(bodies.length, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...bodies, central, end])
}
