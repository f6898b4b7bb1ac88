// What Prometheus is shown of a process, by meta: the same runs and counts as the overview, and every exception.
import type { MetaFigures } from '../../query/prometheus.ts'
import type { Process } from '../account.ts'
import { sumHours } from '../hours.ts'
import { FIGURES, newestOf, ORPHANS } from '../row.ts'
import { countDay } from './view-process.ts'

const NOTHING_HIDDEN = { isHidden: () => false }

/** Judge the process before: a run that never finished runs until then. */
export function figuresOf({ name, rows, raised }: Process, nowUs: number): MetaFigures[] {
  const metas = new Set([...rows.keys(), ...(raised?.keys() ?? [])])
  return [...metas].map((meta) => {
    const row = rows.get(meta)
    const { runs, failed, never_finished, exceptions } = countDay(row, raised?.get(meta), NOTHING_HIDDEN, nowUs)
    const orphan = row === undefined ? 0 : sumHours(row.figures, FIGURES, ORPHANS, nowUs)
    return {
      process: name,
      meta,
      exceptions,
      newest: row && newestOf(row),
      isCut: (row?.cutUs ?? 0) > 0,
      runs: { completed: runs - failed, failed, abandoned: never_finished, orphan },
    }
  })
}
