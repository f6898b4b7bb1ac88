// Measures how long each question takes, failed ones too.
import type { Questions } from '../query/questions.ts'
import type { Rooms } from './open-rooms.ts'

export function measureQuestions({
  questions,
  metrics,
  clock,
}: Pick<Rooms, 'questions' | 'metrics' | 'clock'>): Questions {
  const measured = Object.entries(questions).map(([name, ask]) => {
    const histogram = metrics.questionSeconds.labels(name)
    const measure = async (...args: Parameters<typeof ask>) => {
      const beganUs = clock.monotonicUs()
      try {
        return await (ask as (...given: typeof args) => Promise<unknown>)(...args)
      } finally {
        histogram.observe((clock.monotonicUs() - beganUs) / 1e6)
      }
    }
    return [name, measure]
  })
  return Object.fromEntries(measured)
}
