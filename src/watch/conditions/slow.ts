// `slow`: a run takes k times the median of the last 20 completed runs.
import { endOfSlow, judgeSlow } from '../rules/slow.ts'
import { judgementOf, keyOf, type MarkCondition } from './condition.ts'
import { formatSpan, minute, orLost, subjectName } from './wording.ts'

export const slow: MarkCondition<number, number> = {
  reads: 'marks',
  toRule: (given) => given,
  judge: (rule, view) =>
    view.own.map((series) => {
      const { process, meta } = series
      const key = keyOf('slow', process, meta)
      const judgement = judgementOf(view, key)
      const episodes = judgeSlow(rule, view.runsOf(series, judgement.knownUs), judgement)
      return { key, process, meta: meta === '' ? null : meta, episodes }
    }),
  stampOf: ({ uid = '', startedUs = 0 }) => keyOf(uid, startedUs),
  endOf(rule, { uid, startedUs, sinceUs, episode }, [series], { known, runsOf }) {
    if (series === undefined) return undefined
    const alert = {
      uid: uid ?? '',
      startedUs: startedUs ?? sinceUs,
      sinceUs,
      ...(episode?.limit !== undefined && { limitUs: episode.limit }),
    }
    return endOfSlow(rule, runsOf(series, known.marks.knownUs), known.marks, alert)?.settledUs
  },
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
