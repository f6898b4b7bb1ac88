// The questions of the API over events in memory.
import type { Event } from '../../src/event/event.ts'
import { createQuestions, type QuestionDeps } from '../../src/query/questions.ts'
import { createMemorySource } from './memory-source.ts'

/** 2025-11-20T21:20:00Z, the moment of every question. */
export const NOW_NS = 1_763_673_600_000_000_000n

/** `events` may grow: an event pushed to it is in the next answer. */
export const memoryQuestions = (events: readonly Event[] = [], changes: Partial<QuestionDeps> = {}) =>
  createQuestions({
    ...createMemorySource(events),
    ...{ nowNs: () => NOW_NS, maxRunNs: 86_400_000_000_000n, maxMarks: 1000 },
    ...{ series: () => ({ used: 0, max: 0 }), firing: async () => [] },
    ...changes,
  })
