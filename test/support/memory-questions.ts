// The questions of the API over events in memory.
import type { Event } from '../../src/event/event.ts'
import { createDesk, DESK_LIMITS } from '../../src/query/desk.ts'
import { createKeptAnswers } from '../../src/query/kept-answers.ts'
import { createQuestions, type QuestionDeps } from '../../src/query/questions.ts'
import { createMemorySource } from './memory-source.ts'

/** 2025-11-20T21:20:00Z, the moment of every question. */
export const NOW_NS = 1_763_673_600_000_000_000n

interface OfAccount {
  readonly deadlineMs: number
  readonly maxAtOnce: number
  readonly maxRunning: number
}

/** By the clock of the questions. */
export const keptAt = (nowNs: () => bigint) => createKeptAnswers(() => Number(nowNs() / 1_000_000n))

/** A desk whose accounts may ask so many questions. */
export const deskOf = ({ deadlineMs, ...question }: OfAccount, maxRunning = DESK_LIMITS.maxRunning) =>
  createDesk({ deadlineMs, maxRunning, lanes: { ...DESK_LIMITS.lanes, question } })

/** `events` may grow: an event pushed to it is in the next answer. */
export const memoryQuestions = (events: readonly Event[] = [], changes: Partial<QuestionDeps> = {}) =>
  createQuestions({
    ...createMemorySource(events),
    ...{ desk: createDesk(), kept: keptAt(changes.nowNs ?? (() => NOW_NS)) },
    ...{ nowNs: () => NOW_NS, maxRunNs: 86_400_000_000_000n, maxMarks: 1000 },
    ...{ series: () => ({ used: 0, max: 0 }), known: async () => ({ states: [], figures: [], alerts: [] }) },
    ...changes,
  })
