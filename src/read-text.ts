// Reads the text of a file that a setting names. Bounded: /dev/zero is a file, too.
import { closeSync, openSync, readSync } from 'node:fs'

const MAX_BYTES = 64 * 2 ** 10

/** A pipe (process substitution) works, but can be read only once. Throws an Error whose message contains neither the path nor the text. */
export function readText(path: string): string {
  const bytes = new Uint8Array(MAX_BYTES + 1)
  let length = 0
  try {
    const file = openSync(path, 'r')
    try {
      for (let read = -1; read !== 0 && length < bytes.length; length += read)
        read = readSync(file, bytes, length, bytes.length - length, null)
    } finally {
      closeSync(file)
    }
  } catch (cause) {
    throw new Error('the file cannot be read', { cause })
  }
  if (length > MAX_BYTES) throw new Error('the file is larger than 64 KiB')
  return new TextDecoder().decode(bytes.subarray(0, length))
}
