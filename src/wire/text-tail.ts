// The end of a byte stream as text: the last output of a failed command. Memory is bounded, however long the stream is.
import { decodeText } from './decode-text.ts'

/** The longest UTF-8 sequence. */
const CODE_POINT_MAX_BYTES = 4

export type TextTail = ReturnType<typeof createTextTail>

export function createTextTail(maxCodePoints: number) {
  const keptBytes = maxCodePoints * CODE_POINT_MAX_BYTES
  // Twice the kept size, so that the kept end moves to the front only once per `keptBytes`.
  const buffer = new Uint8Array(2 * keptBytes)
  let used = 0
  let cut = false

  return {
    push(chunk: Uint8Array): void {
      if (chunk.length >= keptBytes) {
        cut = true
        buffer.set(chunk.subarray(chunk.length - keptBytes))
        used = keptBytes
        return
      }
      if (used + chunk.length > buffer.length) {
        buffer.copyWithin(0, used - keptBytes, used)
        used = keptBytes
        cut = true
      }
      buffer.set(chunk, used)
      used += chunk.length
    },
    /** The kept part has a NUL: it is data, or UTF-16. */
    hasNul: (): boolean => buffer.subarray(Math.max(0, used - keptBytes), used).includes(0),
    /** The last `maxCodePoints` code points, of text in UTF-8, UTF-16 or windows-1252. */
    text(): string {
      let start = Math.max(0, used - keptBytes)
      // A cut may fall inside a sequence, whose rest is not a character of the text.
      if (cut || start > 0) for (let i = 0; i < 3 && isContinuation(buffer[start]); i++) start++
      return endOfText(decodeText(buffer.subarray(start, used)), maxCodePoints)
    },
  }
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80

/** The last `max` code points; lone surrogates become U+FFFD. */
export function endOfText(given: string, max: number): string {
  const text = given.toWellFormed()
  let start = text.length
  for (let taken = 0; taken < max && start > 0; taken++) start -= isTrailSurrogate(text.charCodeAt(start - 1)) ? 2 : 1
  return text.slice(start)
}

const isTrailSurrogate = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff
