// `late`: a start did not come by its due time plus the grace.
import { DEFAULT_GRACE } from '../../wire/defaults.ts'
import type { CreateWatch } from '../../wire/watches.ts'
import type { Series } from '../evaluate/memory.ts'
import { createSchedule } from '../log/cron.ts'
import { endOfLate, findExcused, judgeLate, type LateRule } from '../rules/late.ts'
import type { WatchMark } from '../rules/runs.ts'
import { type Instance, judgementOf, keyOf, type MarkCondition } from './condition.ts'
import { cronFaults } from './cron-faults.ts'
import { spanFaults, spanUs } from './span.ts'
import { formatSpan, minute, orLost, subjectName } from './wording.ts'

type Given = NonNullable<CreateWatch['late']>

/** With a pattern only processes that were seen within this time are late. */
const SEEN_WITHIN_US = 30 * 86_400e6

export const late: MarkCondition<Given, LateRule> = {
  reads: 'marks',
  complete: (given) => ({ ...given, grace: given.grace ?? DEFAULT_GRACE }),
  faults({ every, cron, tz, grace }) {
    const faults = [...spanFaults('/late/grace', grace), ...spanFaults('/late/every', every)]
    if ((every === undefined) === (cron === undefined))
      faults.push({ pointer: '/late', detail: 'must have either every or cron' })
    if (cron !== undefined) faults.push(...cronFaults('/late', cron, tz ?? 'UTC'))
    else if (tz !== undefined) faults.push({ pointer: '/late/tz', detail: 'belongs to cron' })
    return faults
  },
  toRule({ every, cron = '', tz = 'UTC', grace = DEFAULT_GRACE }) {
    const graceUs = spanUs(grace)
    return every === undefined ? { schedule: createSchedule(cron, tz), graceUs } : { everyUs: spanUs(every), graceUs }
  },
  spanUs: (rule) => ('everyUs' in rule ? rule.everyUs + rule.graceUs : rule.graceUs),
  needs: () => ['starts'],
  intervalUs: (rule, fromUs) => ('everyUs' in rule ? rule.everyUs : (rule.schedule.nextUs(fromUs) ?? fromUs) - fromUs),
  stampOf: ({ dueUs, sinceUs }) => dueUs ?? sinceUs,

  /** Judges a process as a whole unless the watch names a meta. */
  judge(rule, view) {
    const { scope, own, known, endedByHand } = view
    const { knownUs, sinceUs } = known.marks
    const subjects = Map.groupBy(own, ({ process }) => process)
    if (!scope.isPattern && !subjects.has(scope.process)) subjects.set(scope.process, [])
    return [...subjects].flatMap(([process, list]): Omit<Instance, 'condition'>[] => {
      const lastUs = Math.max(...list.map((it) => it.lastUs))
      if (scope.isPattern && lastUs < knownUs - SEEN_WITHIN_US) return []
      const key = keyOf('late', process)
      const subject = { key, process, meta: scope.meta }
      // a due time of an expression that a start covered before the clock was set back is not due again
      const former = 'everyUs' in rule ? [] : list.flatMap(({ formerStartsUs }) => formerStartsUs)
      const starts = [...startsOf(list), ...former].sort((a, b) => a - b)
      const ended = endedByHand(key)
      if (ended?.isExpired && !starts.some((us) => us > ended.atUs)) return [{ ...subject, episodes: [] }]
      // each due time of an expression may fire, but an interval has only one
      const judgement = 'everyUs' in rule ? known.marks : judgementOf(view, key)
      // Unknown starts may lie before the first complete one, and before `completeFromUs`.
      const completeFromUs = Math.max(0, ...list.map((it) => it.completeFromUs))
      const fromUs =
        sinceUs < completeFromUs ? (starts.find((us) => us >= completeFromUs) ?? completeFromUs) : completeFromUs
      const episodes = judgeLate(rule, starts, judgement, known.floorUs).filter(
        ({ untilUs = Number.POSITIVE_INFINITY }) => untilUs > fromUs,
      )
      return [{ ...subject, episodes, unjudged: findExcused(rule, starts, judgement) }]
    })
  },
  endOf: (_, { sinceUs, episode }, own, { known }) =>
    endOfLate(
      startsOf(own).filter((us) => us <= known.marks.knownUs),
      episode?.fromUs ?? sinceUs,
    ),

  stillHolds(rule, { sinceUs, episode }, nowUs) {
    const silentUs = episode?.silentUs ?? sinceUs
    const dueUs = 'everyUs' in rule ? silentUs + rule.everyUs : rule.schedule.nextUs(silentUs)
    return dueUs !== undefined && dueUs + rule.graceUs < nowUs
  },
  summarize(subject, { every, cron, tz = 'UTC', grace = DEFAULT_GRACE }, { sinceUs, dueUs = sinceUs, lost }) {
    const due = every === undefined ? `by ${cron} (${tz})` : `every ${every}`
    // after a downtime it is judged later than that
    const byUs = lost === undefined ? sinceUs : dueUs + spanUs(grace)
    const orNot = lost === undefined ? '' : `, ${orLost(lost, 'its start')}`
    return `${subjectName(subject)} is late: it should start ${due}, and did not by ${minute(byUs)}${orNot}`
  },
  summarizeEnd(alert, untilUs, episode) {
    const after = untilUs - alert.sinceUs
    const when = after < 0 ? 'which arrived after it was due' : `${formatSpan(after)} after it was late`
    const how = episode?.endedAs === undefined ? 'started' : 'ended'
    const unknown = how === 'ended' ? 'its start is not known, ' : ''
    return `${subjectName(alert)} ${how} at ${minute(untilUs)}, ${unknown}${when}`
  },
}

/** One that the clock moved is no start of now. */
const isStart = ({ mark, ownUs }: WatchMark): boolean => mark === 'start' && ownUs === undefined

/** The known starts of a process, in order. */
function startsOf(list: readonly Series[]): number[] {
  const completeFromUs = Math.max(0, ...list.map((it) => it.completeFromUs))
  const starts = list.flatMap(({ marks }) => marks.filter(isStart).map(({ atUs }) => atUs))
  const newestUs = Math.max(...list.map((it) => it.newestStartUs))
  const complete = starts.filter((us) => us >= completeFromUs)
  return [...new Set([newestUs, ...complete].filter(Number.isFinite))].sort((a, b) => a - b)
}
