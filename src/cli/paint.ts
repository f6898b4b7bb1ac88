// Colour, where there is a terminal that shows it and nobody has said NO_COLOR.
import type { Io } from './io.ts'

const STYLES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

export type Style = keyof typeof STYLES

/** `text` is fit for a terminal. */
export type Paint = (text: string, style: Style) => string

export function createPaint({ stdout, env }: Pick<Io, 'stdout' | 'env'>): Paint {
  const hasColour = stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'
  return hasColour ? (text, style) => `\u001b[${STYLES[style]}m${text}\u001b[0m` : (text) => text
}
