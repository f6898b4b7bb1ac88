// The dialogs that create a watch or a channel. "Watch this process" fills in the usual interval and the longest run of its history.

import type { Channel, NewChannel } from '../../wire/channels.ts'
import type { Timing } from '../../wire/timings.ts'
import { confirmAction } from '../kit/dialog.ts'
import { h } from '../kit/dom.ts'
import { createField } from '../kit/form.ts'
import { parseTime } from '../kit/format-time.ts'
import type { App } from '../kit/page.ts'

export function askForWatch(app: App, channels: readonly Channel[], process: string, done: () => void): void {
  const name = createField('name', 'Name', { required: true, maxlength: 100, value: process })
  const target = createField(
    'process',
    'Process',
    { required: true, maxlength: 250, value: process },
    'Exact, or with * for any text.',
  )
  const every = createField(
    'every',
    'Late: a start every',
    { placeholder: '1h' },
    'A span such as 15m, 1h, 1d, or a cron expression such as 0 3 * * *. Empty: not watched.',
  )
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const grace = createField('grace', 'Grace', { value: '10m' }, `How late a start may be. Cron is read in ${zone}.`)
  const long = createField('long', 'Long: a run takes at most', { placeholder: '30m' }, 'Empty: not watched.')
  const failed = h('input', { type: 'checkbox', checked: true, name: 'failed' })
  const exceptions = h('input', { type: 'checkbox', name: 'exceptions' })
  const slow = h('input', { type: 'checkbox', name: 'slow' })
  const boxes = channels.map(({ id, name: label }) => ({
    id,
    label,
    input: h('input', { type: 'checkbox', checked: channels.length === 1, name: id }),
  }))
  const check = (input: HTMLElement, text: string) => h('label', {}, input, ` ${text}`)
  confirmAction({
    title: 'Create watch',
    text: [
      h(
        'fieldset',
        { class: 'checks' },
        h('legend', {}, 'Fires when'),
        check(failed, 'a run fails'),
        check(exceptions, 'an exception is raised'),
        check(slow, 'a run takes twice the usual'),
      ),
      h(
        'fieldset',
        { class: 'checks' },
        h('legend', {}, 'Notify'),
        ...(boxes.length === 0
          ? [h('p', { class: 'muted' }, 'No channel yet: alerts are only shown here.')]
          : boxes.map(({ input, label }) => check(input, label))),
      ),
    ],
    fields: [name, target, every, grace, long],
    submitLabel: 'Create watch',
    async submit() {
      const due = every.input.value.trim()
      const isCron = due.includes(' ') || due.startsWith('@')
      const isFailed = failed.checked || exceptions.checked
      await app.api.send('POST', 'api/watches', {
        name: name.input.value,
        process: target.input.value,
        channels: boxes.filter(({ input }) => input.checked).map(({ id }) => id),
        ...(due !== '' && {
          late: { ...(isCron ? { cron: due, tz: zone } : { every: due }), grace: grace.input.value },
        }),
        ...(long.input.value !== '' && { long: long.input.value }),
        ...(isFailed && { failed: { exceptions: exceptions.checked } }),
        ...(slow.checked && { slow: 2 }),
      })
      return done
    },
  })
  if (process !== '') void suggest(app, process, every.input, long.input)
}

const SPANS = [60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 14_400, 21_600, 43_200, 86_400, 172_800, 604_800]

/** The usual time between starts, rounded up to a common span, and twice the longest run. Without history the fields stay empty. */
async function suggest(app: App, process: string, every: HTMLInputElement, long: HTMLInputElement): Promise<void> {
  const query = { process, from: '-14d', limit: 100 }
  const { timings } = await app.api
    .get<{ timings: Timing[] }>('api/timings', query)
    .catch(() => ({ timings: [] as Timing[] }))
  const starts = timings
    .flatMap(({ started_at }) => (started_at === null ? [] : [parseTime(started_at) / 1000]))
    .sort((a, b) => a - b)
  const gaps = starts
    .slice(1)
    .map((at, i) => at - starts[i]!)
    .sort((a, b) => a - b)
  const usual = gaps[Math.floor(gaps.length / 2)]
  if (usual !== undefined && every.value === '') every.value = toSpan(usual * 0.95)
  const longest = Math.max(0, ...timings.map(({ duration_ms }) => (duration_ms ?? 0) / 1000))
  if (longest > 0 && long.value === '') long.value = toSpan(longest * 2)
}

function toSpan(seconds: number): string {
  const span = SPANS.find((it) => it >= seconds) ?? Math.ceil(seconds / 86_400) * 86_400
  if (span % 86_400 === 0) return `${span / 86_400}d`
  return span % 3600 === 0 ? `${span / 3600}h` : `${span / 60}m`
}

const KINDS = [
  ['webhook', 'Webhook (signed JSON)'],
  ['email', 'E-mail'],
  ['slack', 'Slack'],
  ['ntfy', 'ntfy'],
] as const

export function askForChannel(app: App, done: (channel: NewChannel['channel']) => void): void {
  const name = createField('name', 'Name', { required: true, maxlength: 100 })
  const target = createField(
    'url',
    'Address',
    { required: true, maxlength: 2000 },
    'A URL; for e-mail the address, which gets a link to confirm it.',
  )
  const kind = h(
    'select',
    { name: 'kind', id: 'channel-kind' },
    ...KINDS.map(([value, label]) => h('option', { value }, label)),
  )
  confirmAction({
    title: 'Create channel',
    text: [h('div', { class: 'field' }, h('label', { for: 'channel-kind' }, 'Kind'), kind)],
    fields: [name, target],
    submitLabel: 'Create channel',
    async submit() {
      const address = kind.value === 'email' ? { to: target.input.value } : { url: target.input.value }
      const body = { name: name.input.value, kind: kind.value, ...address }
      const { channel } = await app.api.send<NewChannel>('POST', 'api/channels', body)
      return () => done(channel)
    },
  })
}
