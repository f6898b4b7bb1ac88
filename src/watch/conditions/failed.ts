// `failed`: runs failed or were abandoned, n times in a row; optionally an exception counts, too.
import type { CreateWatch } from '../../wire/watches.ts'
import { endOfFailed, type FailedRule, judgeFailed } from '../rules/failed.ts'
import { judgementOf, keyOf, type MarkCondition } from './condition.ts'
import { formatSpan, minute, orLost, subjectName } from './wording.ts'

type Given = NonNullable<CreateWatch['failed']>

const CAUSES = { failed: 'failed', abandoned: 'was abandoned: it never ended', exception: 'raised an exception' }

export const failed: MarkCondition<Given, FailedRule> = {
  reads: 'marks',
  readsExceptions: true,
  complete: ({ after = 1, exceptions = false }) => ({ after, exceptions }),
  toRule: ({ after = 1, exceptions = false }) => ({ after, exceptions }),
  needs: ({ exceptions }) => (exceptions ? ['exceptions'] : []),
  /** A nightly job may be cut off for days. Resolved alerts are kept for comparison for longer than this. */
  reportedWithinUs: 7 * 86_400e6,
  judge(rule, view) {
    const known = rule.exceptions ? view.known.exceptions : view.known.marks
    if (known === undefined) return []
    return view.own.map((series) => {
      const { process, meta } = series
      const key = keyOf('failed', process, meta)
      const judgement = judgementOf(view, key, known)
      const episodes = judgeFailed(rule, view.runsOf(series, known.knownUs), series.exceptions, judgement)
      return { key, process, meta: meta === '' ? null : meta, episodes }
    })
  },
  stampOf: ({ sinceUs }) => sinceUs,
  endOf({ exceptions }, { sinceUs, uid, episode }, [series], { known, runsOf }) {
    const judgement = exceptions ? known.exceptions : known.marks
    if (series === undefined || judgement === undefined) return undefined
    const isException = episode?.cause === 'exception'
    return endOfFailed(runsOf(series, judgement.knownUs), exceptions ? series.exceptions : [], {
      sinceUs,
      ...(isException && { exception: { atUs: sinceUs, ...(uid !== null && { uid }) } }),
    })?.settledUs
  },
  stillHolds: ({ after, exceptions }, { episode }) =>
    (episode?.figure ?? 1) >= after && (exceptions || episode?.cause !== 'exception'),
  summarize(subject, _, { cause = 'failed', figure = 1, sinceUs, failedUs = sinceUs, startedUs, lost }) {
    const unknown = cause === 'failed' && startedUs === undefined ? '; its start is not known' : ''
    const often = figure > 1 ? ` (${figure} in a row)` : ''
    return `${subjectName(subject)} ${CAUSES[cause]}${often} at ${minute(failedUs)}${lost ? `, ${orLost(lost, 'its end')}` : unknown}`
  },
  summarizeEnd: (alert, untilUs) =>
    `${subjectName(alert)} completed at ${minute(untilUs)}, after ${formatSpan(untilUs - alert.sinceUs)} of failure`,
}
