// `failed`: runs failed or were abandoned, n times in a row; optionally an exception counts, too.
import type { CreateWatch } from '../../wire/watches.ts'
import { type FailedRule, judgeFailed } from '../rules/failed.ts'
import { keyOf, type MarkCondition } from './condition.ts'
import { formatSpan, minute, subjectName } from './wording.ts'

type Given = NonNullable<CreateWatch['failed']>

const CAUSES = { failed: 'failed', abandoned: 'was abandoned: it never ended', exception: 'raised an exception' }

export const failed: MarkCondition<Given, FailedRule> = {
  reads: 'marks',
  readsExceptions: true,
  complete: ({ after = 1, exceptions = false }) => ({ after, exceptions }),
  faults: () => [],
  toRule: ({ after = 1, exceptions = false }) => ({ after, exceptions }),
  isUnknown: ({ exceptions }, { hasExceptions }) => exceptions && !hasExceptions,
  /** A nightly job may be cut off for days. Resolved alerts are kept for comparison for longer than this. */
  reportedWithinUs: 7 * 86_400e6,
  judge(rule, { own, known, runsOf }) {
    const judgement = rule.exceptions ? known.exceptions : known.marks
    if (judgement === undefined) return []
    return own.map((series) => ({
      key: keyOf('failed', series.process, series.meta),
      process: series.process,
      meta: series.meta === '' ? null : series.meta,
      episodes: judgeFailed(rule, runsOf(series, judgement.knownUs), series.exceptions, judgement),
    }))
  },
  summarize(subject, _, { cause = 'failed', figure = 1, sinceUs }) {
    const often = figure > 1 ? ` (${figure} in a row)` : ''
    return `${subjectName(subject)} ${CAUSES[cause]}${often} at ${minute(sinceUs)}`
  },
  summarizeEnd: (alert, untilUs) =>
    `${subjectName(alert)} completed at ${minute(untilUs)}, after ${formatSpan(untilUs - alert.sinceUs)} of failure`,
}
