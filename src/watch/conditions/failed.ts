// `failed`: runs failed or were abandoned, n times in a row; optionally an exception counts, too.
import type { CreateWatch } from '../../wire/watches.ts'
import type { Episode } from '../log/episode.ts'
import type { ConditionOf } from './condition.ts'
import { formatSpan, minute, orLost, subjectName } from './wording.ts'

type Given = NonNullable<CreateWatch['failed']>

const CAUSES = { failed: 'failed', abandoned: 'never finished', exception: 'raised an exception' }

interface FailedRule {
  readonly after: number
  readonly exceptions: boolean
}

export const failed: ConditionOf<Given, FailedRule> = {
  complete: ({ after = 1, exceptions = false }) => ({ after, exceptions }),
  toRule: ({ after = 1, exceptions = false }) => ({ after, exceptions }),
  stillHolds: ({ after, exceptions }, { episode }) =>
    (episode?.figure ?? 1) >= after && (exceptions || episode?.cause !== 'exception'),
  summarize(subject, _, episode) {
    const { cause = 'failed', figure = 1, sinceUs, failedUs = sinceUs, startedUs, lost } = episode
    if (cause === 'abandoned' && startedUs !== undefined) return neverFinished(subject, episode, startedUs)
    const unknown = cause === 'failed' && startedUs === undefined ? '; its start is not known' : ''
    const doubt = lost ? `, ${orLost(lost, 'its end')}` : unknown
    const often = figure > 1 ? ` (${figure} in a row)` : ''
    return `${subjectName(subject)} ${CAUSES[cause]}${often} at ${minute(failedUs)}${doubt}`
  },
  summarizeEnd(alert, untilUs) {
    const after = formatSpan(untilUs - alert.sinceUs)
    const then = alert.episode?.cause === 'exception' ? `${after} after an exception` : `after ${after} of failure`
    return `${subjectName(alert)} completed at ${minute(untilUs)}, ${then}`
  },
}

type Subject = Parameters<typeof subjectName>[0]

/** Only what is sure: a start, and no end. */
function neverFinished(subject: Subject, { figure = 1, followedUs, lost }: Episode, startedUs: number): string {
  const often = figure > 1 ? ` (${figure} in a row)` : ''
  const next = followedUs === undefined ? '' : `, and the next run at ${minute(followedUs)} with no end between`
  const or = lost === undefined ? '' : `, ${orLost(lost, 'its end')}`
  return `${subjectName(subject)} never finished${often}: it started at ${minute(startedUs)}${next}${or}`
}
