import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { describeFailure, endEvents, startEvent } from '../../../src/cli/exec/job-events.ts'
import type { Ending } from '../../../src/cli/exec/run-job.ts'
import { formatUs } from '../../../src/client/event-times.ts'
import { saysWhy } from '../../../src/wire/headline.ts'

const JOB = { process: 'import', meta: 'eu', uid: 'u-1' }
const SPAN = { startedUs: 1_795_211_562_171_920, endedUs: 1_795_211_563_171_921 }
const ended = (ending: Partial<Ending>): Ending => ({ exitCode: 0, stderrTail: '', endedUs: 0, ...ending })

test('both marks have the same process, meta and uid, and the time of the job to the µs', () => {
  const events = [startEvent(JOB, SPAN.startedUs), ...endEvents(JOB, SPAN, 'import', ended({}))]
  expect(events).toEqual([
    { kind: 'start', body: { ...JOB, at: '2026-11-20T21:52:42.171920Z' } },
    { kind: 'end', body: { ...JOB, at: '2026-11-20T21:52:43.171921Z' } },
  ])
})

test('the end brings what the command wrote, if it is kept and there is any', () => {
  const endOf = (outputTail?: string, exitCode = 0) =>
    endEvents(JOB, SPAN, 'import', ended({ exitCode, ...(outputTail !== undefined && { outputTail }) }))[0]!.body
  expect(endOf('7 pages\n')).toMatchObject({ output: '7 pages' })
  expect(endOf('7 pages\n', 1)).toMatchObject({ output: '7 pages', failed: true })
  expect(endEvents(JOB, SPAN, 'import', ended({ stdoutTail: 'a' }))[0]!.body).not.toHaveProperty('output')
  expect(endEvents(JOB, SPAN, 'import', ended({ stdoutTail: 'a', exitCode: 1 }))[0]!.body).toMatchObject({
    output: 'a',
  })
  for (const nothing of [undefined, '', ' \n']) expect(endOf(nothing)).not.toHaveProperty('output')
})

test('a time is RFC 3339 with six digits', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4e15 }), (us) => {
      const text = formatUs(us)
      expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
      expect(Date.parse(text) * 1000 + Number(text.slice(-4, -1))).toBe(us)
    }),
  )
})

describe('a failed command sends an exception', () => {
  test('within the run, and no two events at one time, however short it was', () => {
    for (const endedUs of [SPAN.startedUs, SPAN.startedUs + 1, SPAN.startedUs + 500]) {
      const failed = endEvents(JOB, { ...SPAN, endedUs }, 'import', ended({ exitCode: 1 }))
      const times = [startEvent(JOB, SPAN.startedUs), failed[1]!, failed[0]!].map(({ body }) => body.at as string)
      expect(times.toSorted()).toEqual(times)
      expect(new Set(times).size).toBe(3)
    }
  })

  test('with the process, meta and uid of the run', () => {
    const [, exception] = endEvents(JOB, SPAN, 'import', ended({ exitCode: 1 }))
    expect(exception).toMatchObject({ kind: 'exception', body: JOB })
  })

  test.each<[string, Partial<Ending>, string]>([
    ['an exit code', { exitCode: 3 }, 'import.sh: exited with code 3'],
    ['a signal', { exitCode: 143, signal: 'SIGTERM' }, 'import.sh: was ended by SIGTERM'],
    ['a command that is not there', { exitCode: 127, failure: 'command not found' }, 'import.sh: command not found'],
    ['the end of its stderr', { exitCode: 1, stderrTail: 'a\nb\n' }, 'import.sh: exited with code 1\na\nb'],
  ])('that tells %s', (_, ending, text) => {
    expect(describeFailure('/opt/jobs/import.sh', ended(ending))).toBe(text)
  })

  test.each([
    ['nothing', '', 'import: exited with code 1\n12 rows'],
    ['only a warning', 'WARN: the cache is cold', 'import: exited with code 1\n12 rows\nWARN: the cache is cold'],
    ['the fault', 'no rates', 'import: exited with code 1\nno rates'],
  ])('that has the end of the output where standard error says %s', (_, stderrTail, text) => {
    const failed = ended({ exitCode: 1, stderrTail, stdoutTail: '12 rows\n' })
    expect(describeFailure('import', failed, saysWhy)).toBe(text)
  })
})

test.each<[string, Partial<Ending>, number[], boolean]>([
  ['exit code 0', {}, [], false],
  ['another exit code', { exitCode: 3 }, [], true],
  ['an accepted exit code', { exitCode: 3 }, [3, 4], false],
  ['exit code 0 where others are accepted too', {}, [3], false],
  ['an exit code that is not accepted', { exitCode: 5 }, [3, 4], true],
  ['a signal, even if its exit code is accepted', { exitCode: 143, signal: 'SIGTERM' }, [143], true],
  ['a command that cannot start', { exitCode: 127, failure: 'command not found' }, [127], true],
])('%s', (_, ending, ok, failed) => {
  const [end, ...others] = endEvents(JOB, SPAN, 'import', ended(ending), ok)
  expect(end!.body.failed).toBe(failed ? true : undefined)
  expect(others).toHaveLength(failed ? 1 : 0)
})
