// A text cut to a length, and never within a character: one beyond the first 65,536, as an emoji, takes two code units.

/** At most so many code units. */
export const cutText = (text: string, length: number): string => text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')
