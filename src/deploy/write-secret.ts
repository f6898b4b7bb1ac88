// Files with one secret each; those of containers are read by other users.
import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Whole or not at all. Each container runs as a user of its own, and only those that need a directory have it. */
export function writeSecret(file: string, text: string, mode = 0o444): void {
  const isNew = mkdirSync(dirname(file), { recursive: true }) !== undefined
  if (isNew) chmodSync(dirname(file), 0o755) // whatever the umask is
  writeFileSync(`${file}.new`, text, { mode: 0o600 })
  chmodSync(`${file}.new`, mode)
  renameSync(`${file}.new`, file)
}
