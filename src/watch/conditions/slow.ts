// `slow`: a run takes k times the median of the last 20 completed runs.
import type { ConditionOf } from './condition.ts'
import { formatSpan, minute, orLost, subjectName } from './wording.ts'

export const slow: ConditionOf<number, number> = {
  toRule: (given) => given,
  stillHolds(factor, { startedUs, sinceUs, episode }, nowUs, before) {
    const { limit = 0, figure = nowUs - (startedUs ?? sinceUs) } = episode ?? {}
    return figure > (limit / before) * factor
  },
  summarize(subject, given, { figure, limit = 0, lost }) {
    const took = figure === undefined ? 'is taking longer than' : `took ${formatSpan(figure)}, more than`
    const orMore = lost ? `, ${orLost(lost, 'its end')}` : ''
    return `${subjectName(subject)} is slow: a run ${took} ${formatSpan(limit)} (${given} times the usual)${orMore}`
  },
  summarizeEnd(alert, untilUs, episode) {
    if (untilUs < alert.sinceUs)
      return `${subjectName(alert)} is back to its usual duration: a run ended in time at ${minute(untilUs)}`
    const took = episode?.figure ? `; the slow run took ${formatSpan(episode.figure)}` : ''
    return (
      `${subjectName(alert)} is back to its usual duration at ${minute(untilUs)}, after ` +
      `${formatSpan(untilUs - alert.sinceUs)}${took}`
    )
  },
}
