// Reading an account costs the stores few questions, and no process of a long page is left out.
import { expect, test } from 'bun:test'
import type { Event } from '../../src/event/event.ts'
import { type BaseSources, readHead, readPages } from '../../src/live/base.ts'
import type { Names } from '../../src/store/source.ts'
import { createMemorySource } from '../support/memory-source.ts'
import { DAY, HOUR, MINUTE, openCast, runAt, T0 } from './live-cast.ts'

const question = {
  ...{ account: 'ada', nowUs: T0 * 1000, maxRunUs: DAY * 1000 },
  ...{ maxMarks: 1e9, maxProcesses: 1e9 },
}

async function readAll(sources: BaseSources, nowUs = question.nowUs) {
  const q = { ...question, nowUs }
  const head = await readHead(sources, q)
  const pages = []
  for await (const page of readPages(sources, q, head, (work) => work(new AbortController().signal))) pages.push(page)
  return pages
}

/** Each question for marks: how long before `nowMs` it begins, and its processes. */
function noteMarks({ points, exceptions }: BaseSources, nowMs = T0) {
  const asked: [ms: number, processes: Names | undefined][] = []
  const noting: BaseSources['points'] = {
    ...points,
    findMarks: (q) => {
      asked.push([nowMs - Number(q.fromNs / 1_000_000n), q.process])
      return points.findMarks(q)
    },
  }
  return { asked, sources: { points: noting, exceptions } }
}

test('a thousand processes with a few runs each take a dozen questions', async () => {
  const cast = await openCast()
  const runs = (i: number) => [5, 3, 1].flatMap((h) => runAt(T0 - h * HOUR, MINUTE, { process: `p${i}`, uid: `${h}` }))
  cast.events.push(...Array.from({ length: 1_000 }, (_, i) => runs(i)).flat())
  const { counts, last_24h } = await cast.ask()
  expect([counts.completed, last_24h.runs]).toEqual([1_000, 3_000])
  expect(cast.reads.length).toBeLessThanOrEqual(12)
})

test('a page with too many marks is read as smaller ones', async () => {
  const names = Array.from({ length: 6 }, (_, i) => `p${i}`)
  const events: Event[] = names.flatMap((process) => runAt(T0 - 3 * HOUR, MINUTE, { process }))
  const memory = createMemorySource(events)
  // a mark that was sent twice may come twice
  const points: BaseSources['points'] = {
    ...memory.points,
    findMarks: async (q) =>
      (await memory.points.findMarks(q)).flatMap((mark) => Array(10_000).fill(mark)).slice(0, q.maxRows),
  }
  const pages = await readAll({ points, exceptions: memory.exceptions })
  const found = pages.flatMap(({ marks }) => marks.map(({ process, mark }) => `${process} ${mark}`))
  expect([...new Set(found)].toSorted()).toEqual(names.flatMap((name) => [`${name} end`, `${name} start`]))
})

test('a rare process has its runs of months, a busy one its figures of a day', async () => {
  const rare = Array.from({ length: 5 }, (_, i) => runAt(T0 - i * 30 * DAY - HOUR, MINUTE, { process: 'monthly' }))
  const busy = Array.from({ length: 200 }, (_, i) => runAt(T0 - i * 5 * MINUTE, MINUTE, { process: 'busy' }))
  const [page, more] = await readAll(createMemorySource([...rare, ...busy].flat()))
  expect(more).toBeUndefined()
  expect(page!.marks.filter(({ process }) => process === 'monthly')).toHaveLength(10)
  expect([...page!.full]).toEqual(['busy'])
  expect(page!.figures.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(190)
  expect(page!.figures.every(({ process }) => process === 'busy')).toBe(true)
  const cast = await openCast()
  cast.events.push(...[...rare, ...busy].flat())
  expect((await cast.ask()).last_24h.runs).toBe(201)
})

test('of busy processes two days of marks are read, and all weeks only of those with fewer', async () => {
  const busy = ['', 'eu'].flatMap((meta) =>
    Array.from({ length: 150 }, (_, i) => runAt(T0 - i * 15 * MINUTE, MINUTE, { process: 'busy', meta })),
  )
  const rare = Array.from({ length: 10 }, (_, i) => runAt(T0 - i * 3 * DAY - HOUR, MINUTE, { process: 'rare' }))
  // its second meta has sent nothing for two days
  const part = Array.from({ length: 150 }, (_, i) => runAt(T0 - i * 15 * MINUTE, MINUTE, { process: 'part' }))
  part.push(runAt(T0 - 9 * DAY, MINUTE, { process: 'part', meta: 'old' }))
  const memory = createMemorySource([...busy, ...rare, ...part].flat())
  const small = noteMarks(memory)
  const dense = noteMarks({ ...memory, points: { ...memory.points, boundMarks: async () => 1e6 } })
  const [fewer, more] = [await readAll(small.sources), await readAll(dense.sources)]
  const namesOf = (processes: Names | undefined) => [processes ?? []].flat().toSorted()
  expect(small.asked.map(([ms, of]) => [ms / DAY, namesOf(of)])).toEqual([[39, ['busy', 'part', 'rare']]])
  expect(dense.asked.map(([ms, of]) => [ms / DAY, namesOf(of)])).toEqual([
    [2, ['busy', 'part', 'rare']],
    [39, ['part', 'rare']],
  ])
  const marksOf = (pages: typeof more) =>
    pages.flatMap(({ marks }) => marks.map((mark) => Bun.inspect(mark))).toSorted()
  expect(marksOf(more)).toEqual(marksOf(fewer))
  expect(marksOf(more)).toHaveLength(200 + 200 + 20 + 200 + 2)
})

test('the open hour is read of processes whose newest marks are all of it', async () => {
  const nowMs = T0 + 50 * MINUTE
  const runs = (process: string, everyMs: number) =>
    Array.from({ length: 140 }, (_, i) => runAt(nowMs - 5_000 - i * everyMs, 1_000, { process }))
  const memory = createMemorySource([...runs('steady', MINUTE), ...runs('busy', 20_000)].flat())
  const { asked, sources } = noteMarks(memory, nowMs)
  const [page] = await readAll(sources, nowMs * 1000)
  expect(asked.slice(1)).toEqual([[50 * MINUTE, ['busy']]])
  const since = (process: string) =>
    page!.marks.filter((mark) => mark.process === process && mark.ns >= BigInt(T0) * 1_000_000n)
  expect([page!.isOpenHourWhole, new Set(since('busy').map(({ uid }) => uid)).size]).toEqual([true, 140])
  expect(new Set(since('steady').map(({ uid }) => uid)).size).toBe(50)
})
