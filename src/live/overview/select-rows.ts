// Chooses and orders the processes of an answer: by default trouble first, then the most recent. A process that changes
// its state between two pages may be seen twice or not at all.
import { PARSERS, type Parsed } from '../../query/parameters.ts'
import { parseParameters } from '../../query/question.ts'
import { rest, spend } from '../../turns.ts'
import { SHOW_OVERVIEW } from '../../wire/overview.ts'
import type { OverviewSort } from '../../wire/process-state.ts'
import type { Verdict } from './board.ts'

/** A row's place: its key in the order, then its name. */
interface Place {
  readonly key: readonly number[]
  readonly name: string
}

type OverviewQuestion = ReturnType<typeof parseOverview>

/** Throws Problem `question_invalid`. */
export const parseOverview = (search: URLSearchParams) =>
  parseParameters(SHOW_OVERVIEW, search, {
    cursor: parseCursor,
    /** An empty one is that of an empty field: all. */
    q: (text: string) => (text.trim() === '' ? { value: [] } : PARSERS.text(text)),
  })

export async function sortVerdicts(
  all: readonly Verdict[],
  { q: words = [], state: states, sort = 'trouble', cursor }: OverviewQuestion,
  limit: number,
) {
  const lower = words.map((word) => word.toLowerCase())
  const isChosen = (verdict: Verdict) => (states?.includes(verdict.state) ?? true) && matches(verdict, lower)
  const best: { verdict: Verdict; place: Place }[] = []
  let found = 0
  for (const verdict of all) {
    if (spend(4)) await rest()
    if (!isChosen(verdict)) continue
    found++
    const place = { key: KEYS[sort](verdict), name: verdict.process.name }
    if (cursor !== undefined && comparePlaces(place, cursor) <= 0) continue
    const at = best.findLastIndex((one) => comparePlaces(one.place, place) < 0) + 1
    if (at > limit) continue
    best.splice(at, 0, { verdict, place })
    if (best.length > limit + 1) best.pop()
  }
  const page = best.slice(0, limit)
  return {
    rows: page.map(({ verdict }) => verdict),
    found,
    next: best.length > limit ? page.at(-1)!.place : undefined,
  }
}

/** Each word is in the name of the process or in one of its metas. */
function matches({ process: { name, metas } }: Verdict, words: readonly string[]): boolean {
  if (words.length === 0) return true
  const texts = [name, ...metas].map((text) => text.toLowerCase())
  return words.every((word) => texts.some((text) => text.includes(word)))
}

/** Smaller comes first. */
const KEYS: Readonly<Record<OverviewSort, (verdict: Verdict) => readonly number[]>> = {
  trouble: ({ rank, process }) => [rank, -process.seenUs],
  name: () => [],
  recent: ({ process }) => [-process.seenUs],
  slow: ({ slowness }) => [-slowness],
  failures: ({ day }) => [-day.failed],
}

function comparePlaces(a: Place, b: Place): number {
  for (const [i, key] of a.key.entries()) if (key !== b.key[i]) return key - (b.key[i] ?? 0)
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0
}

export const encodeCursor = ({ key, name }: Place): string =>
  Buffer.from(JSON.stringify([...key, name])).toString('base64url')

function parseCursor(text: string): Parsed<Place> {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    if (Array.isArray(parts)) {
      const [key, name] = [parts.slice(0, -1), parts.at(-1)]
      if (typeof name === 'string' && key.every((one): one is number => typeof one === 'number'))
        return { value: { key, name } }
    }
  } catch {} // as any other text
  return { detail: 'is not a cursor of an earlier answer' }
}
