// `bun run bench fingerprint-cost`: how much more than a plain text the slowest one costs; more than RATIO_MAX is a
// failure. The cost of a fingerprint must not depend on what a text holds: the exceptions of other accounts wait in the
// same process. A small generator looks for the slowest text: it repeats units, mutates the slowest ones, and keeps
// what is slower.
import { fingerprint } from '../../src/event/fingerprint.ts'
import { readCorpus } from '../event/corpus.ts'
import { CHARS, fill, leastMs, STARTS, UNITS } from '../event/costly-texts.ts'

const TRIES = 800
const KEPT = 25
/** How often the slowest texts are measured again, for the least time of each. */
const REPEATS = 25
const RATIO_MAX = 20

const PLAIN = 'the job could not finish its work for today, so that it gave up\n'

interface Candidate {
  readonly unit: string
  readonly text: string
  readonly ms: number
}

/** The same texts in every run. */
function createChance(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 16) % below
  }
}

function findSlowest(): Candidate[] {
  const below = createChance(7)
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!
  const lines = readCorpus().flatMap(({ texts }) => texts[0]!.split('\n').map((line) => `${line}\n`))
  const words = [...UNITS, ...lines]
  let kept: Candidate[] = []
  const tryOut = (unit: string, start: string) => {
    const text = fill(unit, start)
    kept = [...kept, { unit, text, ms: leastMs(text, 2) }].sort((a, b) => b.ms - a.ms).slice(0, KEPT)
  }
  for (const unit of UNITS) for (const start of STARTS) tryOut(unit, start)
  for (let i = 0; i < TRIES; i++) {
    const { unit } = pick(kept)
    const at = below(unit.length + 1)
    const inserted = unit.slice(0, at) + pick(words) + unit.slice(at)
    const mutated = pick([inserted, unit.slice(0, at) + unit.slice(at + 1 + below(4)), pick(words) + pick(words)])
    if (mutated !== '' && mutated.length <= 300) tryOut(mutated, pick(STARTS))
  }
  return kept
}

const plain = fill(PLAIN)
for (const { texts } of readCorpus()) for (const text of texts) fingerprint(text)
leastMs(plain, 200)
const slowest = findSlowest()
  .map((found) => ({ ...found, ms: leastMs(found.text, REPEATS) }))
  .sort((a, b) => b.ms - a.ms)[0]!
const plainMs = leastMs(plain, 50)
const ratio = slowest.ms / plainMs
const unit = JSON.stringify(slowest.unit.slice(0, 60))
console.log(`${CHARS} characters: plain ${plainMs.toFixed(3)} ms, slowest ${slowest.ms.toFixed(2)} ms: ${unit}`)
console.log(`${ratio.toFixed(1)} times as much, at most ${RATIO_MAX} are fine`)
process.exitCode = ratio > RATIO_MAX ? 1 : 0
