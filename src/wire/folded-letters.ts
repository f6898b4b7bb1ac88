// Letters that other programs read as others: Kelvin's K, a wide a, a ligature. An address with them may reach the
// mailbox of one without them, whose limits and person are not its own.

/** Does compatibility folding (NFKC) change a letter of the text? */
export const hasFoldedLetters = (text: string): boolean =>
  [...text].some((letter) => letter.normalize('NFKC') !== letter)
