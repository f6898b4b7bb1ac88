// The processes that an account's history reads: some of them, or all that it has.

export type Processes = ReadonlySet<string> | 'all'

/** Up to this many are requested by name, otherwise all. */
const MAX_NAMED = 200

export const without = (wanted: Processes, known: Processes): Processes => {
  if (known === 'all') return new Set()
  return wanted === 'all' ? 'all' : wanted.difference(known)
}

export const union = (a: Processes, b: Processes): Processes => (a === 'all' || b === 'all' ? 'all' : a.union(b))

/** undefined = all. */
export const namesOf = (processes: Processes): readonly string[] | undefined =>
  processes === 'all' || processes.size > MAX_NAMED ? undefined : [...processes]
