// Texts of callers, shortened.

/** Cuts a text to `length` code units without splitting a surrogate pair, such as an emoji. */
export const cutText = (text: string, length: number): string => text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')
