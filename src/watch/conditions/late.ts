// `late`: a start did not come by its due time plus the grace.

import { createSchedule, type Schedule } from '../../process/cron.ts'
import { spanUs } from '../../process/span.ts'
import { DEFAULT_GRACE } from '../../wire/conditions.ts'
import type { CreateWatch } from '../../wire/watches.ts'
import type { ConditionOf } from './condition.ts'
import { cronFaults } from './cron-faults.ts'
import { spanFaults } from './span-faults.ts'
import { formatSpan, minute, orLost, subjectName } from './wording.ts'

type Given = NonNullable<CreateWatch['late']>

export type LateRule =
  | { readonly everyUs: number; readonly graceUs: number }
  | { readonly schedule: Schedule; readonly graceUs: number }

export const late: ConditionOf<Given, LateRule> = {
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
  stillHolds(rule, { sinceUs, episode }, nowUs) {
    const silentUs = episode?.silentUs ?? sinceUs
    const dueUs = 'everyUs' in rule ? silentUs + rule.everyUs : rule.schedule.nextUs(silentUs)
    return dueUs !== undefined && dueUs + rule.graceUs < nowUs
  },
  summarize(subject, { every, cron, tz = 'UTC', grace = DEFAULT_GRACE }, { sinceUs, dueUs = sinceUs, lastUs, lost }) {
    const due = every === undefined ? `on the schedule ${cron} (${tz})` : `every ${every}`
    // after a downtime it is judged later than that, and the stamps may lead the schedule
    const byUs = dueUs === sinceUs ? sinceUs : dueUs + spanUs(grace)
    const orNot = lost === undefined ? '' : `, ${orLost(lost, 'its start', tz)}`
    const last = lastUs === undefined ? '' : `; its last known run was at ${minute(lastUs, tz)}`
    return `${subjectName(subject)} is late: it should start ${due}, and did not by ${minute(byUs, tz)}${orNot}${last}`
  },
  summarizeEnd(alert, untilUs, episode, given) {
    const after = untilUs - alert.sinceUs
    const when = after < 0 ? 'which arrived after it was due' : `${formatSpan(after)} after it was late`
    const how = episode?.endedAs === undefined ? 'started' : 'ended'
    const unknown = how === 'ended' ? 'its start is not known, ' : ''
    return `${subjectName(alert)} ${how} at ${minute(untilUs, given?.tz)}, ${unknown}${when}`
  },
}
