// `slow`: a run takes k times the median of the last 20 completed runs.
import { judgeSlow } from '../rules/slow.ts'
import { keyOf, type MarkCondition } from './condition.ts'
import { formatSpan, subjectName } from './wording.ts'

export const slow: MarkCondition<number, number> = {
  reads: 'marks',
  complete: (given) => given,
  faults: () => [],
  toRule: (given) => given,
  judge: (rule, { own, known, runsOf }) =>
    own.map((series) => ({
      key: keyOf('slow', series.process, series.meta),
      process: series.process,
      meta: series.meta === '' ? null : series.meta,
      episodes: judgeSlow(rule, runsOf(series, known.marks.knownUs), known.marks),
    })),
  summarize(subject, given, { figure, limit = 0 }) {
    const took = figure === undefined ? 'is taking longer than' : `took ${formatSpan(figure)}, more than`
    return `${subjectName(subject)} is slow: a run ${took} ${formatSpan(limit)} (${given} times the usual)`
  },
  summarizeEnd(alert, untilUs, episode) {
    const took = episode?.figure ? `; the slow run took ${formatSpan(episode.figure)}` : ''
    return `${subjectName(alert)} is back to its usual duration after ${formatSpan(untilUs - alert.sinceUs)}${took}`
  },
}
