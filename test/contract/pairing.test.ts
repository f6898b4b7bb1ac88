// The rule by examples, and these and a few histories over each store; pairing.slow.ts proves more of them, and the Flux of the panels.
import { expect, test } from 'bun:test'
import { pairMarks } from '../support/pair-marks.ts'
import { CLICKHOUSE, INFLUX, provePairing } from './pairing.ts'
import { EXAMPLES, marksOf, textOf, WIDE } from './pairing-examples.ts'

test('each example is what the rule says', () => {
  for (const [name, marks, timings, question = {}] of EXAMPLES)
    expect([name, textOf(pairMarks(marksOf(marks), { ...WIDE, ...question }))]).toEqual([name, timings])
})

const few = { batches: 1, histories: 15, figures: false }
provePairing(CLICKHOUSE, { ...few, arrivals: 0 }) // it remembers nothing
provePairing(INFLUX, { ...few, arrivals: 1 })
