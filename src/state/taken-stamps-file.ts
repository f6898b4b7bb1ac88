// The stamps taken by events with their own time (event/taken-stamps.ts), kept over an orderly stop. Without it an
// event after the restart could get the stamp of a different one before it, and replace that one in InfluxDB.
// What the file says stays true, so an old one does no harm, and a missing one only means that less is remembered.
// A header of 8 bytes, the numbers of the table as u32, CRC-32 of these.
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import type { Logger } from '../log.ts'

interface Table {
  save(): Uint32Array
  /** False when the numbers are not of such a table. */
  load(saved: Uint32Array): boolean
}

const HEADER = Buffer.from('STINTTS1')
const CRC_BYTES = 4

/** Loads the table from the file; `close` writes it. A fault of the file or the disk is only logged. */
export function openTakenStampsFile(path: string, table: Table, log: Logger): { close(): void } {
  try {
    const saved = readSaved(path)
    if (saved !== undefined && !table.load(saved)) throw new Error('it is not of a table of this size')
  } catch (err) {
    log.warn({ err, path }, 'the list of taken stamps cannot be read: Stint starts without it')
  }
  return {
    close() {
      try {
        write(path, table.save())
      } catch (err) {
        log.warn({ err, path }, 'the list of taken stamps could not be written')
      }
    },
  }
}

function readSaved(path: string): Uint32Array | undefined {
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw err
  }
  const body = bytes.subarray(HEADER.length, bytes.length - CRC_BYTES)
  const isWhole = bytes.length >= HEADER.length + CRC_BYTES && body.length % 4 === 0
  if (!isWhole || !bytes.subarray(0, HEADER.length).equals(HEADER)) throw new Error('it is no such list')
  if (bytes.readUInt32LE(bytes.length - CRC_BYTES) !== Bun.hash.crc32(body)) throw new Error('it is damaged')
  return new Uint32Array(Uint8Array.from(body).buffer)
}

function write(path: string, numbers: Uint32Array): void {
  const body = Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength)
  const crc = Buffer.alloc(CRC_BYTES)
  crc.writeUInt32LE(Bun.hash.crc32(body))
  const file = openSync(`${path}.new`, 'w', 0o600)
  try {
    for (const part of [HEADER, body, crc])
      for (let at = 0; at < part.length; ) at += writeSync(file, part, at, part.length - at)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(`${path}.new`, path)
}
