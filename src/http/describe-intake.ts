// What /swagger/json says of the four calls.
import type { EventKind } from '../event/event.ts'

const SUMMARIES: Record<EventKind, string> = {
  start: 'Start a timed process',
  end: 'End a timed process',
  metrics: 'Send metrics',
  exception: 'Send an exception',
}

export const describeIntake = (kind: EventKind) => ({
  tags: ['events'],
  summary: SUMMARIES[kind],
  security: [{ apiKey: [] }],
  responses: { 201: { description: 'On disk' } },
})
