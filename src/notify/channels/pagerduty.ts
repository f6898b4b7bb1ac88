// PagerDuty Events API v2: https://developer.pagerduty.com/docs/send-alert-event
// One incident per watch, however many of its alerts fire; it is resolved when none of those that were sent fires.
import { describe } from '../delivery/notification-text.ts'
import { type ChannelKindSender, isFiring, JSON_TYPE, memberOf } from './channel-kind.ts'
import { serverOf } from './secrets.ts'

/** Of a summary, in characters. */
const SUMMARY = 1024

export const pagerduty: ChannelKindSender = {
  rate: { burst: 60, everyS: 1 },
  grouping: 'watch',
  faults: ({ settings }) =>
    settings.only_firing ? [{ pointer: '/only_firing', detail: 'PagerDuty needs the end to close its incident' }] : [],
  async send({ channel, bodies, isStillFiring }, { post, publicUrl }) {
    const [{ data, type, timestamp }] = bodies as readonly [(typeof bodies)[number]]
    const event = (event_action: 'trigger' | 'resolve', more = {}) =>
      post(
        serverOf(channel),
        JSON_TYPE,
        JSON.stringify({
          routing_key: memberOf(channel, 'routing_key'),
          event_action,
          dedup_key: type === 'test' ? `stint-test-${channel.id}` : `stint-${data.watch.id}`,
          ...more,
        }),
      )
    if (!isFiring(bodies) && type !== 'test')
      return isStillFiring ? 'The incident stays open: other alerts of the watch fire.' : event('resolve')
    const { title, facts, lines, url } = describe(bodies)
    const answer = await event('trigger', {
      payload: {
        summary: title.slice(0, SUMMARY),
        source: data.process || 'Stint',
        severity: isStillFiring ? 'error' : 'info',
        timestamp,
        ...(data.process !== '' && { component: data.process }),
        group: data.watch.name,
        class: data.condition ?? 'test',
        custom_details: { ...Object.fromEntries(facts), ...(lines.length > 0 && { alerts: lines.join('\n') }) },
      },
      client: 'Stint',
      client_url: publicUrl,
      links: url === '' ? [] : [{ href: url, text: 'Open in Stint' }],
    })
    return isStillFiring ? answer : event('resolve')
  },
}
