// Whose an ETag is, and how long it holds. What moves it is in answer-tags.slow.ts.
import { describe, expect, test } from 'bun:test'
import { createAnswerTags } from '../../../src/http/questions/answer-tags.ts'

describe('a tag', () => {
  const asker = { account: 'acc', role: 'member', isOperator: false } as const
  const deps = { start: 'a', versionOf: (): string | undefined => '1', watchChanges: () => 0, nowMs: () => 0 }
  const url = new URL('http://stint/api/timings')
  const tag = (tags: ReturnType<typeof createAnswerTags>) => tags.tagOf(asker, tags.stateOf('acc', url)!)

  test('is not repeated after a restart', () => {
    expect(tag(createAnswerTags(deps))).toBe(tag(createAnswerTags(deps)))
    expect(tag(createAnswerTags({ ...deps, start: 'b' }))).not.toBe(tag(createAnswerTags(deps)))
  })

  test('is not given where other nodes change the account as well', () => {
    expect(createAnswerTags({ ...deps, versionOf: () => undefined }).stateOf('acc', url)).toBeUndefined()
  })
  test('of a range that ends now holds the longer the longer the range is: from half a minute to ten minutes', () => {
    const keptS = (search: string) => {
      let nowMs = 0
      const state = () => createAnswerTags({ ...deps, nowMs: () => nowMs }).stateOf('acc', new URL(search, url))
      const before = state()
      while (state() === before) nowMs += 1_000
      return nowMs / 1000
    }
    expect(['?from=-1h', '?from=-24h', '?from=-30d', ''].map(keptS)).toEqual([30, 288, 600, 30])
  })
})
