// How far back a uid is looked for. The answers are what Stint gives for a range that holds the run, and for one that is
// too long.
import { expect, test } from 'bun:test'
import { ApiError } from '../../src/console/kit/api.ts'
import type { Get } from '../../src/console/kit/ask.ts'
import { findUid } from '../../src/console/kit/find-uid.ts'
import { formatFullDay } from '../../src/console/kit/format-time.ts'
import { linkToRun } from '../../src/console/kit/run-links.ts'

const NOW = Date.UTC(2026, 10, 28)
const DAY = 86_400_000
const dayAgo = (days: number) => formatFullDay(NOW - days * DAY)

/** Knows one run so many days ago, and refuses to look further back than `readable`. */
function storeWith(days: number, readable = 10_000) {
  const asked: string[] = []
  const at = new Date(NOW - days * DAY).toISOString()
  const timing = { process: 'job', meta: null, uid: 'u', state: 'completed', started_at: at, ended_at: at }
  const get = async (_: string, { from }: { from: string }) => {
    asked.push(from)
    const back = Number(from.slice(1, -1))
    if (back > readable) throw new ApiError(422, 'question_too_large', 'Too large', '')
    return { timings: back >= days ? [timing] : [] }
  }
  return { get: get as unknown as Get, asked }
}

test('a recent run takes one question, an old one as many as it needs', async () => {
  for (const [days, questions] of [
    [2, 1],
    [40, 2],
    [400, 3],
  ] as const) {
    const { get, asked } = storeWith(days)
    expect((await findUid(get, 'u', NOW)).href).toContain('#/runs?process=job')
    expect(asked).toHaveLength(questions)
  }
})

test('without a run the answer says how far back it was looked for', async () => {
  const nowhere = await findUid(storeWith(9_999).get, 'u', NOW)
  expect(nowhere).toEqual({ href: undefined, text: `No run with this uid since ${dayAgo(3650)}.` })
  const limited = await findUid(storeWith(400, 100).get, 'u', NOW)
  expect(limited.text).toBe(`No run with this uid since ${dayAgo(90)}. Further back is too much to read at once.`)
})

test('a failure of the first question is one', async () => {
  expect(findUid(storeWith(1, 1).get, 'u', NOW)).rejects.toThrow('Too large')
})

test('a link to a run shows a range that holds it, also to somebody who follows it later', () => {
  const rangeOf = (agoMs: number, state = 'completed', nowMs = NOW) => {
    const link = linkToRun({ process: 'job', startMs: NOW - agoMs, id: 'id', state }, nowMs)
    const params = new URLSearchParams(link.split('?')[1])
    return ['from', 'to'].map((name) => params.get(name) && Date.parse(params.get(name)!))
  }
  expect(rangeOf(2 * DAY)).toEqual([NOW - 3.75 * DAY, NOW])
  expect(rangeOf(60_000, 'failed')).toEqual([NOW - 60_000 - 225_000, NOW])
  expect(rangeOf(60_000, 'failed', NOW + 5_000)).toEqual(rangeOf(60_000, 'failed', NOW + 10_000)) // no link changes with a poll
  expect(rangeOf(40 * DAY)).toEqual([NOW - 41 * DAY, NOW - 39 * DAY])
  const running = linkToRun({ process: 'job', startMs: NOW - 2 * DAY, id: 'id', state: 'running' }, NOW)
  expect(running).toBe('#/runs?process=job&from=-7d&run=id')
})
