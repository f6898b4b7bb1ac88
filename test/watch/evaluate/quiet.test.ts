// A watch that is not judged would have been judged the same: random histories, second by second, with and without the short cut.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { judgeMarks } from '../../../src/watch/evaluate/judge-watch.ts'
import { createMemory } from '../../../src/watch/evaluate/memory.ts'
import type { Moment } from '../../../src/watch/evaluate/moment.ts'
import { judgeUnlessQuiet, type Quiet } from '../../../src/watch/evaluate/quiet.ts'
import { toRules } from '../../../src/watch/watch.ts'
import { LAST_S, MAX_RUN_S, S, secondMarks, toMarks } from '../rules/history.ts'
import { watchOf } from '../watch-cast.ts'

const watches = [
  { late: { every: '20s', grace: '3s' } },
  { late: { cron: '*/7 * * * * *', tz: 'UTC', grace: '1s' } },
  { long: '9s' },
  { failed: { after: 1, exceptions: false } },
  { slow: 2 },
].map((conditions, i) => watchOf(`wat_${i}`, { process: 'job', ...conditions }))

test('a watch that is quiet has the episodes of its last judgement', () => {
  let judged = 0
  let skipped = 0
  fc.assert(
    fc.property(
      secondMarks,
      fc.constantFrom(...watches),
      fc.option(fc.nat(LAST_S)),
      fc.nat(20),
      (marks, watch, downS, lag) => {
        const memory = createMemory()
        const quiet: Quiet = new WeakMap()
        const rules = toRules(watch.spec)
        const sorted = toMarks(marks)
        let last = ''
        for (let t = 1; t <= LAST_S; t++) {
          const arrived = sorted.filter(({ atUs }) => Math.floor(atUs / S) + lag === t)
          memory.addMarks(arrived.map((mark) => ({ ...mark, process: 'job', meta: '' })))
          const blind = downS !== null && downS < t ? [{ fromUs: downS * S, toUs: (downS + 5) * S }] : []
          const moment: Moment = {
            nowUs: t * S,
            pointsKnownUs: t * S,
            exceptionsKnownUs: t * S,
            blind,
            rewind: undefined,
            former: { alerts: new Map(), times: new Set() },
            clearUs: 0,
            maxRunUs: MAX_RUN_S * S,
            judgedUs: undefined,
            publicUrl: '',
            silentNodes: [],
          }
          const one = { watch, rules, alerts: [] }
          const judge = (at: Moment) => judgeMarks(one, memory, at, false)
          const text = JSON.stringify(judge(moment).instances.map(({ key, episodes }) => [key, episodes.map(timesOf)]))
          const answer = judgeUnlessQuiet(quiet, one, memory, moment, judge)
          if (answer.judged === undefined) {
            skipped++
            expect(text).toBe(last)
          } else {
            judged++
            answer.settle()
          }
          last = text
        }
      },
    ),
    { numRuns: 300 },
  )
  expect(skipped).toBeGreaterThan(judged)
})

const timesOf = ({ sinceUs, untilUs }: { sinceUs: number; untilUs?: number }) => [sinceUs, untilUs]
