// The line of an exception that says what happened: its message, not the words that every trace begins with.
import { cutText } from '../kit/cut-text.ts'

/** Shown for an exception that was sent without a text. */
export const EMPTY_TEXT = '(empty text)'
const LOOKED_AT = 15_000
const HEADLINE_MAX = 300

const PYTHON = /^Traceback \(most recent call last\):/m

/** What a text says first; a Python trace says it last. */
export function headline(text: string): string {
  const lines = text.slice(0, LOOKED_AT).split('\n')
  const trace = lines.findIndex((line) => PYTHON.test(line))
  const after = trace < 0 ? lines : lines.slice(trace + 1).filter((line) => /^\S/.test(line))
  const said = after.find((line) => line.trim() !== '') ?? lines.find((line) => line.trim() !== '')
  return said === undefined ? EMPTY_TEXT : cutText(said.trim(), HEADLINE_MAX)
}
