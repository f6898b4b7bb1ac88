// `long`: a run has been running longer than the limit. Each overlapping run is an instance.

import type { Episode } from '../log/episode.ts'
import { endOfLong, judgeLong } from '../rules/long.ts'
import { keyOf, type MarkCondition } from './condition.ts'
import { spanFaults, spanUs } from './span.ts'
import { formatSpan, minute, orLost, subjectName } from './wording.ts'

const LIMIT = 'must be shorter than MAX_RUN, after which a run counts as abandoned'

export const long: MarkCondition<string, number> = {
  reads: 'marks',
  faults: (given, { maxRunUs }) => spanFaults('/long', given, maxRunUs, LIMIT),
  toRule: spanUs,
  spanUs: (rule) => rule,
  judge: (rule, { own, known, runsOf }) =>
    own.flatMap((series) => {
      const { process } = series
      const meta = series.meta === '' ? null : series.meta
      return judgeLong(rule, runsOf(series, known.marks.knownUs), known.marks).map((episode) => ({
        key: keyOf('long', process, series.meta, ...subjectOf(episode)),
        process,
        meta,
        episodes: [episode],
      }))
    }),
  stampOf: ({ startedUs = 0 }) => startedUs,
  endOf(_, { uid, startedUs, sinceUs, episode }, [series], { known }) {
    const marks = series?.marks.filter(({ atUs }) => atUs <= known.marks.knownUs) ?? []
    return endOfLong(marks, episode?.runs ?? [{ uid: uid ?? '', startedUs: startedUs ?? sinceUs }])
  },
  stillHolds: (limitUs, { sinceUs, startedUs, episode }, nowUs) =>
    (episode?.lost?.toUs ?? startedUs ?? sinceUs) + limitUs < nowUs,
  summarize(subject, _, { limit = 0, startedUs, sinceUs, figure, lost, runs = [], others = 0, isFollowed }) {
    const name = subjectName(subject)
    if (figure !== undefined) return `${name} took ${formatSpan(figure)}, more than ${formatSpan(limit)}`
    const since = `since ${minute(startedUs ?? sinceUs)}`
    const more = others === 0 ? '' : ` (${others} more runs are open)`
    const who = runs.length > 1 ? `${name}: ${runs.length} runs are` : `${name} is`
    const text = `${who} running for more than ${formatSpan(limit)}, ${since}${more}`
    if (lost === undefined) return text
    return `${text}, ${orLost(lost, runs.length > 1 ? 'their ends' : 'its end')}${isFollowed ? '; a later run has started: end unknown' : ''}`
  },
  summarizeEnd(alert, untilUs, episode) {
    const how = episode?.endedAs === 'completed' ? 'ended' : (episode?.endedAs ?? 'ended or started again')
    const after = formatSpan(untilUs - (alert.startedUs ?? alert.sinceUs))
    return `${subjectName(alert)} ${how} at ${minute(untilUs)}, after ${after}`
  },
}

/** A run, or all runs whose end may have been lost in the same downtime. */
const subjectOf = ({ uid, startedUs, lost }: Episode) => (lost === undefined ? [uid, startedUs] : ['lost', lost.fromUs])
