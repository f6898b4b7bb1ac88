// The cost of a fingerprint must not depend on what a text holds: somebody else's exceptions wait in the same process. A small generator
// looks for the slowest text: it repeats units, mutates the slowest ones, and keeps what is slower.
import { expect, test } from 'bun:test'
import { fingerprint } from '../../src/event/fingerprint.ts'
import { readCorpus } from './corpus.ts'

const CHARS = 15_000
const TRIES = 800
const KEPT = 25
/** How often the slowest texts are measured again, for the least time of each. */
const REPEATS = 25
const RATIO_MAX = 20

const UNITS =
  'a|1|"|\'|`|(|[|{|<|:|::|.|,|1,|1.|a.|a@|@/|a@/|//|a-|0x|1a|-1|é|\\|/|C:\\|\n|\r| |\t|at |    at a (b:1:2)\n|at a (|at a(|eval at |' +
  'File "|  File "a", line 1, in b\n|Traceback (most recent call last)\n|goroutine 1 [|a()\n\t/a.go:1\n|#0 |#0 a(1): b(\n|#0 0x1 in a(|' +
  "a:1:in 'b|from |thread 'a|panicked at |stack backtrace:\n|   0: a\n|0 a + 1 in b at |caused by |Caused by: |---> |Error: |a::a|A.A|$1|__1|" +
  'a@b/|a@/:1:1\n|2026-11-20T|12:34:56|Mon, |Nov 20 |10.0.0.|ab:|https://a?|Uncaught |Unhandled exception. |<number>, |,"|":|"a" |\'a\' |' +
  "x='a' |status 1 |error |(code |=(|Unexpected token |in JSON|/tmp/|SQLSTATE[|<number> as |fatal error: |.php in /a:1| (A"
/** Whole lines that were slow once. */
const LINES = [`@${'/'.repeat(998)}\n`, `a@${'a/'.repeat(498)}\n`, `${'('.repeat(998)}\n`]
const STARTS = [
  '',
  'Error: ',
  'Error: x\n    at a (b:1:2)\n',
  'a.sh: exited with code 1\n',
  '"',
  'Traceback (most recent call last):\n',
]
const PLAIN = 'the job could not finish its work for today, so that it gave up\n'

interface Candidate {
  readonly unit: string
  readonly text: string
  readonly ms: number
}

const fill = (unit: string, start = ''): string => (start + unit.repeat(Math.ceil(CHARS / unit.length))).slice(0, CHARS)

function leastMs(text: string, repeats: number): number {
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < repeats; i++) {
    const began = performance.now()
    fingerprint(text)
    least = Math.min(least, performance.now() - began)
  }
  return least
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
  const words = [...UNITS.split('|'), ...lines]
  let kept: Candidate[] = []
  const tryOut = (unit: string, start: string) => {
    const text = fill(unit, start)
    kept = [...kept, { unit, text, ms: leastMs(text, 2) }].sort((a, b) => b.ms - a.ms).slice(0, KEPT)
  }
  for (const unit of [...UNITS.split('|'), ...LINES]) for (const start of STARTS) tryOut(unit, start)
  for (let i = 0; i < TRIES; i++) {
    const { unit } = pick(kept)
    const at = below(unit.length + 1)
    const inserted = unit.slice(0, at) + pick(words) + unit.slice(at)
    const mutated = pick([inserted, unit.slice(0, at) + unit.slice(at + 1 + below(4)), pick(words) + pick(words)])
    if (mutated !== '' && mutated.length <= 300) tryOut(mutated, pick(STARTS))
  }
  return kept
}

test(`the slowest text of ${CHARS} characters costs at most ${RATIO_MAX} times as much as a plain one`, () => {
  const plain = fill(PLAIN)
  for (const { texts } of readCorpus()) for (const text of texts) fingerprint(text)
  leastMs(plain, 200)
  const slowest = findSlowest()
    .map((found) => ({ ...found, ms: leastMs(found.text, REPEATS) }))
    .sort((a, b) => b.ms - a.ms)[0]!
  const plainMs = leastMs(plain, 50)
  const unit = JSON.stringify(slowest.unit.slice(0, 60))
  console.log(`plain ${plainMs.toFixed(3)} ms, slowest ${slowest.ms.toFixed(2)} ms: ${unit}`)
  expect(slowest.ms / plainMs).toBeLessThan(RATIO_MAX)
})
