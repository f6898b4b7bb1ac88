/** At most so many code units, never half of a character: one beyond the first 65,536, as an emoji, takes two. */
export const cutText = (text: string, length: number): string => text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')
