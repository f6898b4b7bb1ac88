// Events that came before, by a number each: a retry, a batch that is sent again and a replayed dead letter are the
// same event. Bounded: the newest 64 of a series; JSON in its row.

const KEPT = 64

/** 32 bits of the content and 21 of the time: a whole number that a double holds. */
export const identityOf = (us: number, content: string): number => Bun.hash.crc32(content) * 2 ** 21 + (us % 2 ** 21)

/** Notes it; true: it came before. */
export function noteSeen(seen: number[], id: number): boolean {
  if (seen.includes(id)) return true
  seen.push(id)
  if (seen.length > KEPT) seen.shift()
  return false
}
