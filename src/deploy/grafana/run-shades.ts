// The colours of the states of a run, the same in every panel.
import type { Shade } from './panels.ts'
import { RUN_CODES } from './point-queries.ts'

export const RUN_SHADES: readonly Shade[] = [
  { value: 0, text: ' ', color: 'transparent' },
  { value: RUN_CODES.completed, text: 'completed', color: 'green' },
  { value: RUN_CODES.running, text: 'running', color: 'blue' },
  { value: RUN_CODES.abandoned, text: 'abandoned', color: 'orange' },
  { value: RUN_CODES.orphan, text: 'orphan', color: 'purple' },
  { value: RUN_CODES.failed, text: 'failed', color: 'red' },
]
