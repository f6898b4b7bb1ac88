// Arguments are bytes, and file names of old are often no UTF-8. Bun makes strings of ours and would hand on U+FFFD for what it could not
// read; a shell can be told to make the bytes themselves.
import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'

/** A script of sh that puts these words, which end our own command line, in `"$@"` as they were given. Undefined when all is as it should be. */
export function restoreArguments(words: readonly string[]): string | undefined {
  if (!words.some((word) => word.includes('\ufffd'))) return undefined
  const given = readOwnArguments().slice(-words.length)
  if (given.length < words.length || given.every((word) => isUtf8(word))) return undefined
  // `$(…)` drops line breaks at an end; the `_` keeps them.
  const sets = given.map((word) => `w=$(printf '${octal(word)}_'); set -- "$@" "\${w%_}"`)
  return ['set --', ...sets].join('; ')
}

const octal = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')

/** Each without the NUL that ends it; none where there is no /proc. */
function readOwnArguments(): Uint8Array[] {
  let line: Buffer
  try {
    line = readFileSync('/proc/self/cmdline')
  } catch {
    return []
  }
  const words: Uint8Array[] = []
  for (let from = 0; from < line.length; ) {
    const end = line.indexOf(0, from)
    words.push(line.subarray(from, end))
    from = end + 1
  }
  return words
}
