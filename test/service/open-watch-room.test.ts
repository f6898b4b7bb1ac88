// The stores as the evaluation of watches asks them.
import { expect, test } from 'bun:test'
import type { Event } from '../../src/event/event.ts'
import { fingerprint } from '../../src/event/fingerprint.ts'
import { createWatchSource } from '../../src/service/open-watch-room.ts'
import { findAllExceptions } from '../../src/watch/evaluate/watch-source.ts'
import { createMemorySource } from '../support/memory-source.ts'

const NOW = 1_763_673_600_000_000
const raised = (exception: string, agoUs: number): Event => ({
  ...{ kind: 'exception', account: 'a', process: 'p', meta: '', exception },
  stamp: { us: NOW - agoUs, sub: 0 },
})

test('exceptions of ignored groups, and of resolved ones before the decision, make no watch fire', async () => {
  const noise = Array.from({ length: 5 }, (_, i) => raised('noise', i))
  const { points, exceptions } = createMemorySource([
    ...noise,
    raised('disk full', 9),
    raised('again', 8),
    raised('again', 30),
  ])
  const decided = (text: string, status: 'ignored' | 'resolved') => ({
    ...{ fingerprint: fingerprint(text), process: 'p', status, by: 'ada@example.com', atUs: NOW - 20 },
  })
  const states = [decided('noise', 'ignored'), decided('again', 'resolved')]
  const groupStates = { list: async () => states, put: async () => {}, remove: async () => {} }
  const source = createWatchSource(points, exceptions, { groupStates })
  const found = await findAllExceptions(source, { account: 'a', fromUs: NOW - 50, toUs: NOW + 1 })
  expect(found.map(({ headline, atUs }) => [headline, NOW - atUs])).toEqual([
    ['again', 8],
    ['disk full', 9],
  ])
  // the ignored ones take no room in the store's page
  expect(await source.findExceptions({ account: 'a', fromUs: NOW - 50, toUs: NOW + 1, maxRows: 3 })).toHaveLength(3)
})
