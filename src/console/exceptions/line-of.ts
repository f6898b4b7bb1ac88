// An exception in one line; the server finds it in the text.

/** Shown for an exception without a text. */
export const EMPTY_TEXT = '(empty text)'

export const lineOf = ({ headline }: { readonly headline: string }): string => headline || EMPTY_TEXT
