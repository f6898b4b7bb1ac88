// Whose a record is, by its first bytes: for readers that decode few of many.
const QUOTE = 34

/** The account of `["s",1764107210000000,2,"acc_…`: the first quote behind the kind. */
export function accountOfHead(head: Buffer): string | undefined {
  const from = head.indexOf(QUOTE, 5)
  const to = head.indexOf(QUOTE, from + 1)
  return from < 0 || to < 0 ? undefined : head.toString('latin1', from + 1, to)
}
