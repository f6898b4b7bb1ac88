// Whose an ETag is, and how long it holds. What moves it is in answer-tags.slow.ts.
import { describe, expect, test } from 'bun:test'
import { createAnswerTags } from '../../../src/http/questions/answer-tags.ts'
import { createChanges } from '../../../src/query/changes.ts'

describe('a tag', () => {
  const asker = { account: 'acc', role: 'member', isOperator: false } as const
  const deps = { start: 'a', changes: createChanges(() => 0, false), watchChanges: () => 0, nowMs: () => 0 }
  const tag = (tags: ReturnType<typeof createAnswerTags>) => tags.tagOf(asker, tags.stateOf('acc')!)

  test('is not repeated after a restart', () => {
    expect(tag(createAnswerTags(deps))).toBe(tag(createAnswerTags(deps)))
    expect(tag(createAnswerTags({ ...deps, start: 'b' }))).not.toBe(tag(createAnswerTags(deps)))
  })

  test('is not given where other nodes change the account as well', () => {
    expect(createAnswerTags({ ...deps, changes: createChanges(() => 0, true) }).stateOf('acc')).toBeUndefined()
  })
})
