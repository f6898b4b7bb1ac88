// Which run the arrow keys lead to: left and right along the runs of a process, up and down to the run of the next process that is nearest in time.
import type { Layout } from './geometry.ts'
import { byNewest, type Run } from './run.ts'

export type StepKey = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown' | 'Home' | 'End'

const KEYS: readonly string[] = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End'] satisfies StepKey[]
export const isStepKey = (key: string): key is StepKey => KEYS.includes(key)

/** Without a run, any key leads to the newest run of the first process. undefined: there are no runs. */
export function stepRun({ bands }: Layout, from: Run | undefined, key: StepKey): Run | undefined {
  const at = bands.findIndex(({ process }) => process === from?.process)
  const oldestFirst = (band: number) => bands[band]?.lanes.flat().toSorted((a, b) => byNewest(b, a)) ?? []
  if (from === undefined || at < 0) return oldestFirst(0).at(-1)
  const same = oldestFirst(at)
  const place = same.findIndex(({ id }) => id === from.id)
  switch (key) {
    case 'ArrowLeft':
      return same[Math.max(0, place - 1)]
    case 'ArrowRight':
      return same[Math.min(same.length - 1, place + 1)]
    case 'Home':
      return same[0]
    case 'End':
      return same.at(-1)
    case 'ArrowUp':
      return nearest(oldestFirst(at - 1), from) ?? from
    case 'ArrowDown':
      return nearest(oldestFirst(at + 1), from) ?? from
    default:
      return key satisfies never
  }
}

const nearest = (runs: readonly Run[], { startMs }: Run): Run | undefined =>
  runs.toSorted((a, b) => Math.abs(a.startMs - startMs) - Math.abs(b.startMs - startMs))[0]
