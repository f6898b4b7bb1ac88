// The stamps taken by events with their own time (event/taken-stamps.ts), kept over an orderly stop. Without it an
// event after the restart could get the stamp of a different one before it, and replace that one in InfluxDB.
// What the file says stays true, so an old one does no harm, and a missing one only means that less is remembered.
// A header of 8 bytes, the numbers of the table as u32, CRC-32 of these.
import type { Logger } from '../log.ts'
import { readIfThere, writeWhole } from './whole-file.ts'

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
        writeWhole(path, toFile(table.save()))
      } catch (err) {
        log.warn({ err, path }, 'the list of taken stamps could not be written')
      }
    },
  }
}

function readSaved(path: string): Uint32Array | undefined {
  const bytes = readIfThere(path)
  if (bytes === undefined) return undefined
  const body = bytes.subarray(HEADER.length, bytes.length - CRC_BYTES)
  const isWhole = bytes.length >= HEADER.length + CRC_BYTES && body.length % 4 === 0
  if (!isWhole || !bytes.subarray(0, HEADER.length).equals(HEADER)) throw new Error('it is no such list')
  if (bytes.readUInt32LE(bytes.length - CRC_BYTES) !== Bun.hash.crc32(body)) throw new Error('it is damaged')
  return new Uint32Array(Uint8Array.from(body).buffer)
}

function toFile(numbers: Uint32Array): Buffer {
  const body = Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength)
  const crc = Buffer.alloc(CRC_BYTES)
  crc.writeUInt32LE(Bun.hash.crc32(body))
  return Buffer.concat([HEADER, body, crc])
}
