// The line of an exception that says what happened, as long as a table has room for it.
import { headlineOf } from '../../wire/headline.ts'
import { cutText } from '../kit/cut-text.ts'

/** Shown for an exception that was sent without a text. */
export const EMPTY_TEXT = '(empty text)'
const LOOKED_AT = 15_000
const HEADLINE_MAX = 300

export const headline = (text: string): string =>
  cutText(headlineOf(text.slice(0, LOOKED_AT)), HEADLINE_MAX) || EMPTY_TEXT
