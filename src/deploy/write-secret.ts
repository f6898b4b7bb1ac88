// Files that containers of other users read.
import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Whole or not at all. Each container runs as a user of its own, and only those that need a directory have it. */
export function writeSecret(file: string, text: string): void {
  const isNew = mkdirSync(dirname(file), { recursive: true }) !== undefined
  if (isNew) chmodSync(dirname(file), 0o755) // whatever the umask is
  writeFileSync(`${file}.new`, text)
  chmodSync(`${file}.new`, 0o444)
  renameSync(`${file}.new`, file)
}
