// The words for states and actions that people read, each once: the console, the command line, badges and reports take
// them from here. The API's codes stay as they are. Free of schemas: it is in the console's bundle.

/** Of a run. `exceptions` is said of one that completed. */
export const RUN_STATE_TEXT = {
  completed: 'Completed',
  exceptions: 'Completed, with an exception',
  failed: 'Failed',
  running: 'Running',
  abandoned: 'Never finished',
  orphan: 'End without start',
} as const

/** Of a process: a label, said of a number of processes among other clauses, and as the whole sentence of one or many. */
export const PROCESS_STATE_TEXT = {
  failed: ['Failed', 'failed', 'failed', 'failed'],
  never_finished: ['Never finished', 'never finished', 'never finished', 'never finished'],
  silent: ['Silent', 'silent', 'is silent', 'are silent'],
  exceptions: ['With exceptions', 'with exceptions', 'has exceptions', 'have exceptions'],
  firing: ['Alert firing', 'with an alert', 'has an alert', 'have an alert'],
  overdue: ['Running long', 'running long', 'is running long', 'are running long'],
  running: ['Running', 'running', 'is running', 'are running'],
  completed: ['Fine', 'fine', 'is fine', 'are fine'],
  no_runs: ['No runs', 'without runs', 'has no runs', 'have no runs'],
} as const

export const ACTION_TEXT = { acknowledge: 'Acknowledge', maintenance: 'Plan maintenance' } as const

export const acknowledgedText = (by: string): string => `${by} has acknowledged it`

/** Said of a start that did not come. */
export const missedText = (due: string): string => `missed; was due ${due}`

/** Watches that could not be checked: a store or Stint itself was away when they were due. */
export const uncheckedText = (count: string, n: number): string =>
  `${count} ${n === 1 ? 'watch' : 'watches'} could not be checked`
