// Small files of DATA_DIR that are read and written whole.
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Undefined when there is no such file. Throws an Error that names the path if it cannot be read. */
export function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    const reason = code === 'EISDIR' ? 'a directory is in the place of the file; move it away' : message
    throw new Error(`${path} cannot be read: ${reason}`, { cause: error })
  }
}

/** Durable when it returns; a kill at any moment leaves the old content or the new one. */
export function writeWhole(path: string, content: string | Uint8Array): void {
  writeFileSync(`${path}.new`, content, { flush: true, mode: 0o600 })
  renameSync(`${path}.new`, path)
  syncDir(dirname(path))
}

export function syncDir(dir: string): void {
  const fd = openSync(dir, 'r')
  fsyncSync(fd)
  closeSync(fd)
}
