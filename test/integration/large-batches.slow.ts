// Many large batches at once: more than may wait for the disk together. They take turns; nobody is refused, and Stint stays ready.
import { expect, test } from 'bun:test'
import { lacks } from '../support/fault-trial.ts'
import { countSpooled } from '../support/oracle.ts'
import { createStintProcess } from '../support/process.ts'
import { until } from '../support/until.ts'

const BATCHES = 16
const EVENTS_EACH = 275

test.skipIf(lacks('chdb'))('accepts concurrent large batches together with single events', async () => {
  await using stint = createStintProcess()
  const { url } = stint
  await stint.start()
  const caller = await stint.signUp('ada@example.com')
  const event = (process: string) => ({ kind: 'exception', process, exception: 'x'.repeat(14_900) })
  const batch = Array.from({ length: EVENTS_EACH }, () => event('large'))
  let isOver = false
  const beside = (async () => {
    const seen = new Set<string>()
    while (!isOver) {
      seen.add(`single ${(await caller.post('/v1/exception', { process: 'single', exception: 'x' })).status}`)
      seen.add(`ready ${(await fetch(`${url}/readyz`)).status}`)
    }
    return [...seen].sort()
  })()
  const answers = await Promise.all(Array.from({ length: BATCHES }, () => caller.post('/v1/batch', batch)))
  isOver = true
  const seen = await beside
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
  expect(seen).toEqual(['ready 200', 'single 201'])
  await until('all stored', async () => (await countSpooled(url))?.exceptions === 0)
  const answer = await caller.get('/api/exceptions?from=-1h&process=large&limit=1')
  expect(((await answer.json()) as { exceptions: unknown[] }).exceptions).toHaveLength(1)
})
