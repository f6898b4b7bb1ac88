// The texts of corpus.txt, trackers.txt, reports.txt and traces.txt, and how well a fingerprint sorts them into faults.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Fault {
  readonly name: string
  readonly texts: readonly string[]
}

const VARIED = /⟦([^⟧]*)⟧/g
const LOGGED = [
  (n: number) => `imported row ${n} of 4000 (${['alice', 'bob', 'carol', 'dave'][n % 4]})`,
  (n: number) => `2026-11-20 21:52:${10 + (n % 50)} INFO queue has ${n} entries, error rate ${n % 7} %`,
  (n: number) => `[step ${n}] copied /data/part-${n}.bin`,
  (n: number) => `flushed ${['orders', 'invoices', 'users'][n % 3]} to archive in ${n} ms`,
]

const sectionsOf = (file: string): string[] =>
  readFileSync(join(import.meta.dir, file), 'utf8')
    .split(/^## /m)
    .slice(1)

export function readCorpus(file = 'corpus.txt'): Fault[] {
  return sectionsOf(file).map((section) => {
    const end = section.indexOf('\n')
    const texts = section
      .slice(end + 1)
      .trimEnd()
      .split('\n⟦again⟧\n')
      .flatMap((body) => {
        const count = Math.max(2, ...[...body.matchAll(VARIED)].map(([, list]) => list!.split('|').length))
        return Array.from({ length: count }, (_, i) => occurrence(body, i))
      })
    return { name: section.slice(0, end), texts }
  })
}

/** Real-looking exceptions of traces.txt: of each fault two occurrences, and what is left of both without what varies. */
export const readTraces = () =>
  sectionsOf('traces.txt').map((section) => {
    const [fault = '', ...lines] = section.slice(0, -1).split('\n')
    const [one = '', another = '', normal = ''] = lines.join('\n').split(/\n⟦(?:again|normal)⟧\n/)
    return { fault, one, another, normal }
  })

const IS_EXEC = /^\S[^\n]*: (?:exited with|was ended|timed out after)/
/** The same faults, reported by `stint exec` with a log above each. */
export const asLogs = (faults: readonly Fault[]): Fault[] =>
  faults.map(({ name, texts }) => ({
    name,
    texts: texts.map((text, i) =>
      IS_EXEC.test(text) ? text : `job.sh: exited with code 1\n${logLines(30 + i, i)}\n${text}`,
    ),
  }))

const occurrence = (body: string, i: number): string =>
  body
    .replace(VARIED, (_, list: string) => list.split('|')[i % list.split('|').length]!)
    .replaceAll('¦', '|')
    .replace(/^%log (\d+)$/gm, (_, lines: string) => logLines(Number(lines) + i, i))

/** Every occurrence logs other lines, and the cut falls elsewhere. */
export function logLines(count: number, seed: number): string {
  const lines = Array.from({ length: count }, (_, i) => {
    const n = (seed * 7919 + i * 104_729) % 3989
    return LOGGED[n % LOGGED.length]!(n)
  })
  return lines.join('\n').slice(1 + ((seed * 5) % 13))
}

export interface Sorted {
  /** Groups that hold more than one fault, one entry per fault too many. */
  readonly merges: readonly string[]
  /** Faults in more than one group, one entry per group too many. */
  readonly splits: readonly string[]
}

export function sortFaults(faults: readonly Fault[], keyOf: (text: string) => string): Sorted {
  const inGroup = new Map<string, Set<string>>()
  const splits = faults.flatMap(({ name, texts }) => {
    const keys = [...new Set(texts.map(keyOf))]
    for (const key of keys) inGroup.set(key, (inGroup.get(key) ?? new Set()).add(name))
    return keys.slice(1).map((key) => `${name}: ${key}`)
  })
  const merges = [...inGroup.values()].flatMap((names) =>
    [...names].slice(1).map((name) => `${name} = ${[...names][0]}`),
  )
  return { merges, splits }
}
