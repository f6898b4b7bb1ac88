// Text that came from elsewhere, made fit for a terminal: it cannot move the cursor, colour anything, begin a line or turn the order of letters.

/** Everything that is not printed, but the two joiners that emoji and some scripts are written with. */
const UNPRINTABLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

const escapeCharacter = (character: string): string => {
  const code = character.codePointAt(0)!
  return SHORT[character] ?? (code < 0x100 ? `\\x${hex(code, 2)}` : `\\u{${hex(code, 4)}}`)
}

const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0')

/** On one line: `\n`, `\t`, `\x1b`, `\u{202e}` stand for what is not printed. */
export const oneLine = (text: string): string => text.toWellFormed().replace(UNPRINTABLE, escapeCharacter)

/** Line breaks and tabs stay. */
export const manyLines = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll('\r\n', '\n')
    .replace(UNPRINTABLE, (character) =>
      character === '\n' || character === '\t' ? character : escapeCharacter(character),
    )

/** JSON on one line, or indented: what is not printed is escaped beyond what JSON asks for, which changes nothing of what it says. */
export const safeJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(UNPRINTABLE, (character) =>
    character === '\n' ? character : escapeUnits(character),
  )

const escapeUnits = (character: string): string =>
  Array.from({ length: character.length }, (_, i) => `\\u${hex(character.charCodeAt(i), 4)}`).join('')
