// The changes of alerts that a person may make, each with its announcement for screen readers.
import type { Api } from '../kit/api.ts'

const CHANGES = {
  acknowledge: ['POST', 'ack', 'Alert acknowledged.'],
  undo: ['DELETE', 'ack', 'The alert is no longer acknowledged.'],
  resolve: ['POST', 'resolve', 'Alert resolved.'],
} as const

export type Change = keyof typeof CHANGES

/** The requests, and what they did. */
export function changeAlerts(
  { send }: Api,
  ids: readonly string[],
  change: Change,
): readonly [work: () => Promise<unknown>, done: string] {
  const [method, path, done] = CHANGES[change]
  return [() => Promise.all(ids.map((id) => send(method, `api/alerts/${id}/${path}`))), done]
}
