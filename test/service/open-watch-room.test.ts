// The decisions about groups of exceptions, as the watches ask for them.
import { expect, test } from 'bun:test'
import { fingerprint } from '../../src/event/fingerprint.ts'
import { createIsIgnored } from '../../src/service/open-watch-room.ts'

const NOW = 1_763_673_600_000_000

test('exceptions of ignored groups, and of resolved ones before the decision, make no watch fire', async () => {
  const decided = (text: string, status: 'ignored' | 'resolved') => ({
    ...{ fingerprint: fingerprint(text), process: 'p', status, by: 'ada@example.com', atUs: NOW - 20 },
  })
  const states = [decided('noise', 'ignored'), decided('again', 'resolved')]
  let isAway = false
  const find = async (_: string, process: string, fingerprints: readonly string[]) => {
    if (isAway) throw new Error('the database is away')
    return states.filter((it) => it.process === process && fingerprints.includes(it.fingerprint))
  }
  const isIgnored = createIsIgnored({ groupStates: { find } })
  const asked = (exception: string, agoUs: number, process = 'p') =>
    isIgnored(
      {
        ...{ kind: 'exception', account: 'a', process, meta: '', exception },
        stamp: { us: NOW - agoUs, sub: 0 },
      },
      NOW - agoUs,
    )
  expect(await asked('noise', 1)).toBe(true)
  expect(await asked('noise', 1, 'other')).toBe(false)
  expect(await asked('again', 30)).toBe(true)
  expect(await asked('again', 8)).toBe(false)
  expect(await asked('disk full', 9)).toBe(false)
  isAway = true
  expect(await asked('noise', 1)).toBe(false)
})
