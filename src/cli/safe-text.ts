// Text for a terminal. Text from elsewhere is escaped, so that it cannot move the cursor, set colours, start a line or
// reverse the order of letters.
import type { Io } from './io.ts'

/** Every character that is not printed, except the two joiners that emoji and some scripts need. */
const UNPRINTABLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

const escapeCharacter = (character: string): string => {
  const code = character.codePointAt(0)!
  return SHORT[character] ?? (code < 0x100 ? `\\x${hex(code, 2)}` : `\\u{${hex(code, 4)}}`)
}

const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0')

/** On one line, with unprintable characters as `\n`, `\t`, `\x1b`, `\u{202e}`. */
export const oneLine = (text: string): string => text.toWellFormed().replace(UNPRINTABLE, escapeCharacter)

/** Keeps line breaks and tabs. */
export const manyLines = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll('\r\n', '\n')
    .replace(UNPRINTABLE, (character) =>
      character === '\n' || character === '\t' ? character : escapeCharacter(character),
    )

/** JSON on one line, or indented. Unprintable characters are escaped as JSON allows, which changes no value. */
export const safeJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(UNPRINTABLE, (character) =>
    character === '\n' ? character : escapeUnits(character),
  )

const escapeUnits = (character: string): string =>
  Array.from({ length: character.length }, (_, i) => `\\u${hex(character.charCodeAt(i), 4)}`).join('')

const STYLES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

export type Style = keyof typeof STYLES

/** `text` is already escaped. */
export type Paint = (text: string, style: Style) => string

/** Colours on a terminal that has them, unless NO_COLOR is set. */
export function createPaint({ stdout, env }: Pick<Io, 'stdout' | 'env'>): Paint {
  const hasColour = stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'
  return hasColour ? (text, style) => `\u001b[${STYLES[style]}m${text}\u001b[0m` : (text) => text
}
