// The three lines for the one Worker that hashes, each served only while those before it are empty:
// 1. sessions, mailed links and networks from which somebody signed in within 30 days: guesses from elsewhere cost
//    them at most the hash that runs;
// 2. one of each other site (/48 or /24);
// 3. what these sites ask beyond that, the sites in turns. A holder of 65,536 networks has one site.
// A line is bounded, and so are an asker's places in it; beyond that an asker is refused.
import { Problem } from '../problem.ts'
import { siteOf } from './networks.ts'

const PLACES_EACH = 16
const PLACES_OF_LINE = 256

export interface Asker {
  /** A session, or the network of a stranger. */
  readonly name: string
  /** Somebody signed in from there lately, or it is a session. */
  readonly isKnown: boolean
}

/** The operator's command line, and holders of a mailed link. */
const TRUSTED: Asker = { name: '', isKnown: true }

/** Waiting ones by asker, whose order in the Map is that of their turns. */
type Line = Map<string, (() => void)[]>

/** Calls `run` once at a time. The result throws Problem `rate_limited` without a place in line. */
export function createPasswordLine<Work, Result>(run: (work: Work) => Promise<Result>) {
  const [known, firsts, others]: readonly [Line, Line, Line] = [new Map(), new Map(), new Map()]
  let isBusy = false

  const waiting = (line: Line) => [...line.values()].reduce((sum, { length }) => sum + length, 0)

  function join(asker: Asker, begin: () => void): void {
    const name = asker.isKnown ? asker.name : siteOf(asker.name)
    const line = asker.isKnown ? known : firsts.has(name) ? others : firsts
    const places = line.get(name) ?? []
    if (places.length >= PLACES_EACH || waiting(line) >= PLACES_OF_LINE)
      throw new Problem('rate_limited', 'Too many passwords are being checked at the moment.', { retryAfterS: 2 })
    line.set(name, [...places, begin])
  }

  function beginNext(): void {
    const line = [known, firsts, others].find(({ size }) => size > 0)
    isBusy = line !== undefined
    if (line === undefined) return
    const [name, [begin, ...rest]] = line.entries().next().value!
    line.delete(name)
    if (rest.length > 0) line.set(name, rest) // behind the others
    begin!()
  }

  return async (work: Work, asker = TRUSTED): Promise<Result> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    join(asker, resolve)
    if (!isBusy) beginNext()
    await promise
    try {
      return await run(work)
    } finally {
      beginNext()
    }
  }
}
