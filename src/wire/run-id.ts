// The uid of a run by its scheduler's id: one rule for all clients, pings and questions. The shell and the Python
// client have it in their own language; test/wire/run-ids.tsv holds all of them to the same cases.
import { createHash } from 'node:crypto'

/**
 * An id that SPEC.md's rule for `uid` accepts stays as it is, but for capitals. Of any other id 41 bytes are left, with
 * a `-` for each foreign one, and a hash of the original, so that two ids do not become one.
 */
export function toUid(id: string): string {
  if (/^[\w-]{0,50}$/.test(id)) return id.toLowerCase()
  const start = Buffer.from(id).toString('latin1').slice(0, 41) // a character for each byte
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 8)
  return `${start.replace(/[^\w-]/g, '-').toLowerCase()}-${hash}`
}
