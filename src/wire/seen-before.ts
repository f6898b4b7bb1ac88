// Whether a group of exceptions is new or came back, in words. Free of schemas: it is in the console's bundle.

const DAY_MS = 86_400_000

/** A group of which nothing is stored of so many days before is new. */
export const NEW_AFTER_DAYS = 90

/** `previousAt`: when it was raised before `at`; null: not in these days. Empty within a day. */
export function describeSeen(at: string, previousAt: string | null): string {
  if (previousAt === null) return 'new'
  const days = Math.floor((Date.parse(at) - Date.parse(previousAt)) / DAY_MS)
  return days < 1 ? '' : `again after ${days} ${days === 1 ? 'day' : 'days'}`
}
