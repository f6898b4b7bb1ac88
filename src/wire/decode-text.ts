// Text from the bytes that a program has written: UTF-8, UTF-16, or windows-1252 (which holds Latin-1).

/** The least part of byte pairs with a zero where the letters of most languages have it in UTF-16. */
const MOSTLY = 0.4
const SAMPLE_BYTES = 4096
/** Undefined in windows-1252, or control characters: such a line is no text. */
const NOT_TEXT = /[\0-\x08\x0e-\x1a\x1c-\x1f\x7f\x81\x8d\x8f\x90\x9d]/

/** Bytes that are not text become U+FFFD. */
export function decodeText(bytes: Uint8Array): string {
  const utf16 = detectUtf16(bytes)
  if (utf16 !== undefined) return new TextDecoder(utf16).decode(bytes)
  return decodeUtf8(bytes) ?? linesOf(bytes).map(decodeLine).join('')
}

function detectUtf16(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  const length = Math.min(bytes.length, SAMPLE_BYTES) & ~1
  const zeros = [0, 0]
  for (let i = 0; i < length; i++) if (bytes[i] === 0) zeros[i & 1]!++
  const [even, odd] = zeros as [number, number]
  const many = Math.max(1, (length / 2) * MOSTLY)
  if (odd >= many && even < many / 2) return 'utf-16le'
  if (even >= many && odd < many / 2) return 'utf-16be'
  return undefined
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** One line may be of a program that writes another encoding than the others. */
function decodeLine(bytes: Uint8Array): string {
  const utf8 = decodeUtf8(bytes)
  if (utf8 !== undefined) return utf8
  const latin1 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  return new TextDecoder(NOT_TEXT.test(latin1) ? 'utf-8' : 'windows-1252', { ignoreBOM: true }).decode(bytes)
}

/** With their line feeds. */
function linesOf(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = []
  for (let from = 0; from < bytes.length; ) {
    const feed = bytes.indexOf(0x0a, from)
    const to = feed === -1 ? bytes.length : feed + 1
    lines.push(bytes.subarray(from, to))
    from = to
  }
  return lines
}
