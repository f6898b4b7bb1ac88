// A fingerprint names the fault behind an exception's text, so that its occurrences can be grouped. Versioned: groups never mix versions.
import { createHash } from 'node:crypto'

/** `v0:` and 16 hexadecimal digits. */
export function fingerprint(exception: string): string {
  return `v0:${createHash('sha256').update(exception).digest('hex').slice(0, 16)}`
}
