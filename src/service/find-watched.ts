// What the room of the watches says about the processes of an account, for the overview: it is current, whatever the
// stores do.
import type { CoveringWatch, Watched } from '../live/overview/covering.ts'
import { createMatch } from '../process/process-pattern.ts'
import { CONDITIONS } from '../watch/conditions/conditions.ts'
import type { LateRule } from '../watch/conditions/late.ts'
import type { Watches } from '../watch/watches.ts'
import type { Channel } from '../wire/channels.ts'
import type { Condition } from '../wire/conditions.ts'
import type { Watch } from '../wire/watches.ts'

const FIRING_MAX = 10_000
/** A schedule computes its times slowly and remembers them. */
const RULES_MAX = 1_000

export function createFindWatched({ watches, alerts, channels }: Pick<Watches, 'watches' | 'alerts' | 'channels'>) {
  const rules = new Map<string, LateRule>()

  function ruleOf(late: NonNullable<Watch['late']>): LateRule {
    const key = JSON.stringify(late)
    const rule = rules.get(key) ?? (CONDITIONS.late.toRule(late) as LateRule)
    if (rules.size >= RULES_MAX) rules.clear()
    rules.set(key, rule)
    return rule
  }

  return async (account: string): Promise<Watched> => {
    const [all, page, ways] = await Promise.all([
      watches.list(account),
      alerts.list(account, { state: 'firing', limit: FIRING_MAX }),
      channels.list(account, 'viewer'),
    ])
    const inUse = new Map(ways.filter(isInUse).map((way) => [way.id, way]))
    return {
      alerts: page.alerts,
      unjudged: page.unjudged.length,
      failingChannels: ways.filter(({ state }) => state === 'failing' || state === 'disabled').length,
      watches: all.map((shown) => {
        const { process, meta, late, failed, state } = shown
        const own = state === 'paused' ? [] : shown.channels.flatMap((id) => inUse.get(id) ?? [])
        const namesOf = (condition: Condition) =>
          own.filter(({ conditions }) => conditions?.includes(condition) ?? true).map(({ name }) => name)
        return {
          shown,
          meta,
          covers: createMatch(process),
          ...(late !== null && state !== 'paused' && { late: toExpected(ruleOf(late)) }),
          hears: {
            late: late === null ? [] : namesOf('late'),
            failed: failed === null ? [] : namesOf('failed'),
            any: own.map(({ name }) => name),
          },
        }
      }),
    }
  }
}

const isInUse = ({ state }: Channel): boolean => state !== 'disabled' && state !== 'pending'

function toExpected(rule: LateRule): NonNullable<CoveringWatch['late']> {
  const graceMs = rule.graceUs / 1000
  if ('everyUs' in rule) return { isSchedule: false, graceMs, next: (ms) => ms + rule.everyUs / 1000 }
  return {
    isSchedule: true,
    graceMs,
    next(ms) {
      // a start within the grace before its time is that start
      const us = rule.schedule.nextUs(ms * 1000 + rule.graceUs)
      return us === undefined ? undefined : us / 1000
    },
  }
}
