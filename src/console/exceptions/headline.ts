// The most telling line of an exception, cut to fit a table.
import { headlineOf } from '../../wire/headline.ts'
import { cutText } from '../kit/cut-text.ts'

/** Shown for an exception without a text. */
export const EMPTY_TEXT = '(empty text)'
const LOOKED_AT = 15_000
const HEADLINE_MAX = 300

export const headline = (text: string): string =>
  cutText(headlineOf(text.slice(0, LOOKED_AT)), HEADLINE_MAX) || EMPTY_TEXT
