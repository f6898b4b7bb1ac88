// Reading an account costs the stores few questions, and no process of a long page is left out.
import { expect, test } from 'bun:test'
import type { Event } from '../../src/event/event.ts'
import { type BaseSources, readHead, readPages } from '../../src/live/base.ts'
import { createMemorySource } from '../support/memory-source.ts'
import { DAY, HOUR, MINUTE, openCast, runAt, T0 } from './live-cast.ts'

const question = {
  ...{ account: 'ada', nowUs: T0 * 1000, maxRunUs: DAY * 1000 },
  ...{ maxMarks: 1e9, maxProcesses: 1e9 },
}

async function readAll(sources: BaseSources) {
  const head = await readHead(sources, question)
  const pages = []
  for await (const page of readPages(sources, question, head, (work) => work(new AbortController().signal)))
    pages.push(page)
  return pages
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
