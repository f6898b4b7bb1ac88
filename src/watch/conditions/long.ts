// `long`: a run has been running longer than the limit. Each overlapping run is an instance.
import { judgeLong } from '../rules/long.ts'
import { keyOf, type MarkCondition } from './condition.ts'
import { spanFaults, spanUs } from './span.ts'
import { formatSpan, minute, subjectName } from './wording.ts'

const LIMIT = 'must be shorter than MAX_RUN, after which a run counts as abandoned'

export const long: MarkCondition<string, number> = {
  reads: 'marks',
  complete: (given) => given,
  faults: (given, { maxRunUs }) => spanFaults('/long', given, maxRunUs, LIMIT),
  toRule: spanUs,
  spanUs: (rule) => rule,
  judge: (rule, { own, known, runsOf }) =>
    own.flatMap((series) => {
      const { process } = series
      const meta = series.meta === '' ? null : series.meta
      return judgeLong(rule, runsOf(series, known.marks.knownUs), known.marks).map((episode) => ({
        key: keyOf('long', process, series.meta, episode.uid, episode.startedUs),
        process,
        meta,
        episodes: [episode],
      }))
    }),
  summarize: (subject, _, { limit = 0, startedUs, sinceUs }) =>
    `${subjectName(subject)} is running for more than ${formatSpan(limit)}, since ${minute(startedUs ?? sinceUs)}`,
  summarizeEnd: (alert, untilUs) =>
    `${subjectName(alert)} ended or started again after ${formatSpan(untilUs - (alert.startedUs ?? alert.sinceUs))}`,
}
