// The dialog that creates or edits a watch. Fields have the names of the request's members, so that the server's errors
// match them.
import type { Channel } from '../../wire/channels.ts'
import { DEFAULT_GRACE } from '../../wire/defaults.ts'
import type { Overview } from '../../wire/overview.ts'
import type { CreateWatch, Watch, WatchAnswer } from '../../wire/watches.ts'
import { ApiError } from '../kit/api.ts'
import { metaOptions } from '../kit/ask-processes.ts'
import { confirmAction, createAsk } from '../kit/dialog.ts'
import { type Child, h, note } from '../kit/dom.ts'
import { type AnyField, createChoice, createField, createSelectField, offerFields, readInputs } from '../kit/form.ts'
import { parseTime } from '../kit/format-time.ts'
import type { App } from '../kit/page.ts'
import { type Lateness, suggestLate } from '../watch/suggest-watch.ts'

type Conditions = Required<Pick<CreateWatch, 'late' | 'long' | 'failed' | 'metric' | 'slow'>>
const NO_CONDITIONS: Conditions = { late: null, long: null, failed: null, metric: null, slow: null }

/** The initial values. */
interface WatchDraft extends Partial<Watch> {
  readonly process: string
}

export interface Known {
  readonly channels: readonly Channel[]
  readonly watches: readonly Watch[]
}

let forms = 0

/** Whether the watch reports each failed run of the process, of every process if that is empty. */
export const reportsFailures = ({ process, meta, failed, state }: Watch, of: string): boolean =>
  (process === '*' || process === of) && meta === null && failed?.after === 1 && state !== 'paused'

/** Edits the watch with the draft's id; creates one without an id, which reports no failure a second time. */
export function askForWatch(app: App, { channels, watches }: Known, draft: WatchDraft, done: () => void): void {
  const isNew = draft.id === undefined
  const list = h('datalist', { id: `processes-${++forms}` })
  const name = createField('name', 'Name', { required: true, maxlength: 100, value: draft.name ?? draft.process })
  const target = createField(
    'process',
    'Process',
    { required: true, maxlength: 250, value: draft.process, list: list.id },
    'Exact, or with * for any text.',
  )
  let chosenMeta = draft.meta ?? undefined
  const meta = createChoice<string | undefined>('Meta', (value) => {
    chosenMeta = value
  })
  const remind = createField(
    'remind',
    'Remind every',
    { placeholder: '24h', value: draft.remind ?? '' },
    'Repeats the notification while an alert fires. Leave empty for no reminders.',
  )
  const conditions = createConditions(draft, isNew ? watches : undefined)
  const boxes = channels.map(({ id, name: given, state }) => {
    const label = state === 'pending' || state === 'disabled' ? `${given} (${state})` : given
    const isChosen = draft.channels?.includes(id) ?? true
    return { id, label, input: h('input', { type: 'checkbox', name: 'channels', checked: isChosen }) }
  })
  const showMetas = async () => {
    const processes = await app.askProcesses().catch(() => [])
    list.replaceChildren(...processes.map(({ process }) => h('option', { value: process })))
    meta.show(metaOptions(processes, target.input.value, chosenMeta), chosenMeta)
  }
  async function suggest(): Promise<void> {
    const process = target.input.value
    if (process === '' || process.includes('*')) return
    const answer = await app.api.get<Overview>('api/overview', { process }).catch(() => undefined)
    const row = answer?.processes[0]
    if (row !== undefined) conditions.suggest(suggestLate(row))
  }
  target.input.addEventListener('change', () => {
    if (name.input.value === '') name.input.value = target.input.value
    void showMetas()
    if (isNew) void suggest()
  })
  meta.show(metaOptions([], draft.process, chosenMeta), chosenMeta)

  confirmAction({
    title: isNew ? 'Create watch' : `Edit ${draft.name}`,
    fields: [name, target, ...conditions.fields, remind],
    content: [
      list,
      h('div.field-pair', name.element, target.element),
      h('div.field-pair', meta.element, remind.element),
      h('h3', 'Fires when'),
      ...conditions.elements,
      h(
        'fieldset.checks',
        h('legend', 'Notify'),
        ...(boxes.length === 0
          ? [note('Nobody is notified: there is no channel yet. Create one first, or watch a process from its page.')]
          : boxes.map(({ input, label }) => h('label', input, ` ${label}`))),
      ),
    ],
    submitLabel: isNew ? 'Create watch' : 'Save watch',
    async submit() {
      const body: CreateWatch = {
        name: name.input.value,
        process: target.input.value,
        meta: chosenMeta ?? null,
        ...conditions.read(),
        channels: boxes.filter(({ input }) => input.checked).map(({ id }) => id),
        remind: remind.input.value.trim() || null,
      }
      if (Object.keys(NO_CONDITIONS).every((condition) => body[condition as keyof Conditions] === null))
        throw new ApiError(422, 'fields_invalid', 'Choose at least one condition.', '')
      if (isNew) await app.api.send<WatchAnswer>('POST', 'api/watches', body)
      else {
        // Only what changed is sent: the alerts of all other conditions continue.
        const changed = Object.entries(body).filter(([key, value]) => !isSame(value, draft[key as keyof CreateWatch]))
        if (changed.length > 0)
          await app.api.send<WatchAnswer>('PATCH', `api/watches/${draft.id}`, Object.fromEntries(changed))
      }
      return done
    },
  })
  void showMetas()
  if (isNew && draft.process !== '') void suggest()
}

const HOUR_MS = 3_600_000
const FOR_GOOD = '9999-12-31T00:00:00Z'
const PAUSES = { 1: '1 hour', 8: '8 hours', 24: '1 day', 168: '7 days', '': 'until resumed' }

export const isForGood = (until: string): boolean => parseTime(until) >= parseTime(FOR_GOOD)

export function askHowLongToPause(app: App, { id, name }: Watch, done: () => void): void {
  const hours = createSelectField('paused_until', 'Pause for', PAUSES, '24')
  const untilOf = (value: string) =>
    value === '' ? FOR_GOOD : new Date(app.nowMs() + Number(value) * HOUR_MS).toISOString()
  const ask = createAsk(app, done)
  ask({
    title: `Pause ${name}?`,
    text: ['No alerts fire and no notifications are sent until it is resumed. Current alerts continue, silently.'],
    fields: [hours],
    submitLabel: 'Pause watch',
    send: ['PATCH', `api/watches/${id}`, () => ({ paused_until: untilOf(hours.input.value) })],
    done: 'Watch paused.',
  })
}

/** Deep comparison, regardless of the order of members. */
const isSame = (a: unknown, b: unknown): boolean => sortedText(a) === sortedText(b)
const sortedText = (value: unknown): string =>
  JSON.stringify(value ?? null, (_, it: unknown) =>
    it !== null && typeof it === 'object' && !Array.isArray(it)
      ? Object.fromEntries(Object.entries(it).sort(([a], [b]) => (a < b ? -1 : 1)))
      : it,
  )

interface ConditionFields {
  readonly elements: readonly Child[]
  readonly fields: readonly AnyField[]
  /** Fills in how often it starts, unless something was entered. */
  suggest(late: Lateness | undefined): void
  read(): Conditions
}

/** `others`: for a new watch, those that are there. */
function createConditions(draft: WatchDraft, others: readonly Watch[] | undefined): ConditionFields {
  const { late, long, failed, metric, slow } = draft
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const kinds = { every: 'at an interval', cron: 'by a cron schedule' }
  const kind = createSelectField('', 'Expected', kinds, late?.cron === undefined ? 'every' : 'cron')
  const every = createField('late/every', 'A start every', {
    placeholder: '1h',
    required: true,
    value: late?.every ?? '',
  })
  const cron = createField(
    'late/cron',
    'Cron expression',
    { placeholder: '0 3 * * *', required: true, maxlength: 200, value: late?.cron ?? '' },
    'Five fields, or six with seconds first.',
  )
  const tz = createField('late/tz', 'Time zone', { maxlength: 100, value: late?.tz ?? (late?.cron ? 'UTC' : zone) })
  const grace = createField('late/grace', 'Grace', { required: true, value: late?.grace ?? DEFAULT_GRACE })
  const showKind = () => {
    const isCron = kind.input.value === 'cron'
    offerFields(!isCron, every)
    offerFields(isCron, cron, tz)
  }
  kind.input.addEventListener('change', showKind)
  showKind()

  const longest = createField('long', 'Longest duration', { placeholder: '30m', required: true, value: long ?? '' })
  const after = createField('failed/after', 'Consecutive failures', {
    type: 'number',
    min: 1,
    max: 100,
    required: true,
    value: failed?.after ?? 1,
  })
  const exceptions = h('input', {
    type: 'checkbox',
    name: 'failed/exceptions',
    checked: failed?.exceptions ?? others !== undefined,
  })
  const times = createField('slow', 'Times the usual duration', {
    type: 'number',
    min: 1,
    max: 1000,
    step: 'any',
    required: true,
    value: slow ?? 2,
  })
  const metricName = createField('metric/name', 'Metric', { required: true, maxlength: 250, value: metric?.name ?? '' })
  const of = createSelectField('metric/of', 'Statistic', FIGURES, metric?.of ?? 'last')
  const window = createField('metric/window', 'Window', { required: true, value: metric?.window ?? '10m' })
  const sides = { above: 'above', below: 'below' }
  const side = createSelectField('', 'Fires while it is', sides, metric?.below === undefined ? 'above' : 'below')
  const number = createField(`metric/${side.input.value}`, 'Threshold', {
    type: 'number',
    step: 'any',
    required: true,
    value: metric?.above ?? metric?.below ?? '',
  })
  side.input.addEventListener('change', () => {
    number.input.name = `metric/${side.input.value}`
  })
  const lasting = createField('metric/for', 'For at least', { placeholder: 'at once', value: metric?.for ?? '' })

  const reporter = others?.find((watch) => reportsFailures(watch, draft.process))
  const groups = [
    createGroup('a start is late', late != null, [kind, every, cron, tz, grace].map(elementOf)),
    createGroup('a run takes too long', long != null, [elementOf(longest)]),
    createGroup(
      `a run fails${reporter ? ` (${reporter.name} reports that)` : ''}`,
      others ? !reporter : failed != null,
      [elementOf(after), h('label.check', exceptions, ' Exceptions count as failures')],
    ),
    createGroup('a run is slower than usual', slow != null, [elementOf(times)]),
    createGroup(
      'a metric crosses a threshold',
      metric != null,
      [metricName, of, window, side, number, lasting].map(elementOf),
    ),
  ]
  const fields = [kind, every, cron, tz, grace, longest, after, times, metricName, of, window, side, number, lasting]
  return {
    elements: groups,
    fields,
    suggest(suggested) {
      if (suggested === undefined || every.input.value !== '') return
      every.input.value = suggested.every
      grace.input.value = suggested.grace
      const box = every.input.closest('fieldset')?.querySelector<HTMLInputElement>('legend input')
      if (box?.checked === false) box.click()
    },
    read: () => ({ ...NO_CONDITIONS, ...readInputs([...fields.map(({ input }) => input), exceptions]) }),
  }
}

const FIGURES = { last: 'last value', min: 'minimum', max: 'maximum', mean: 'mean' }

const elementOf = ({ element }: AnyField): Child => element

/** The fields of a condition, shown while its box is checked. */
function createGroup(label: string, isOn: boolean, content: readonly Child[]) {
  const input = h('input', { type: 'checkbox', checked: isOn })
  const body = h('div.field-pair', ...content)
  const element = h('fieldset.condition', h('legend', h('label', input, ` ${label}`)), body)
  const show = () => {
    body.hidden = !input.checked
    element.disabled = !input.checked // the legend stays enabled
  }
  input.addEventListener('change', show)
  show()
  return element
}
