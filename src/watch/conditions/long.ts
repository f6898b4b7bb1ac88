// `long`: a run has been running longer than the limit. Each overlapping run is an instance.

import { spanUs } from '../../process/span.ts'
import type { ConditionOf } from './condition.ts'
import { spanFaults } from './span-faults.ts'
import { formatSpan, minute, orLost, subjectName } from './wording.ts'

const LIMIT = 'must be shorter than MAX_RUN, after which a run counts as abandoned'

export const long: ConditionOf<string, number> = {
  faults: (given, { maxRunUs }) => spanFaults('/long', given, maxRunUs, LIMIT),
  toRule: spanUs,
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
    const or = orLost(lost, runs.length > 1 ? 'their ends' : 'its end')
    return `${text}, ${or}${isFollowed ? '; a later run has started: end unknown' : ''}`
  },
  summarizeEnd(alert, untilUs, episode) {
    const how = episode?.endedAs === 'completed' ? 'ended' : (episode?.endedAs ?? 'ended or started again')
    const after = formatSpan(untilUs - (alert.startedUs ?? alert.sinceUs))
    return `${subjectName(alert)} ${how} at ${minute(untilUs)}, after ${after}`
  },
}
