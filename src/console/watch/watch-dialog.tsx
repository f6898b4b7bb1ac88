// A watch, new or changed: sentences with fields in them, what they would have fired, and whom the watch notifies. A
// new channel is tested in place.
import type { ComponentProps } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Channel } from '../../wire/channels.ts'
import { CONDITIONS } from '../../wire/conditions.ts'
import type { OverviewProcess } from '../../wire/overview.ts'
import type { ProcessEntry } from '../../wire/processes.ts'
import type { WatchPreview } from '../../wire/watch-preview.ts'
import type { Watch } from '../../wire/watches.ts'
import { ApiError } from '../kit/api.ts'
import type { App } from '../kit/app.ts'
import { metaOptions } from '../kit/ask-processes.ts'
import { explain } from '../kit/explain.ts'
import { Fold } from '../kit/fold.tsx'
import { FieldFrame, Form } from '../kit/form.tsx'
import { Modal } from '../kit/modal.tsx'
import { Select } from '../kit/select.tsx'
import { useView } from '../kit/view.tsx'
import { BacktestResult, useBacktest } from './backtest.tsx'
import { ChannelChoice, toChannel } from './channel-choice.tsx'
import { Inline, Sentence } from './sentence.tsx'
import {
  changesOf,
  FIELDS,
  hasCondition,
  NOTHING,
  reportsFailures,
  textOf,
  toWatch,
  type Values,
  valuesOf,
} from './sentences.ts'
import { allowPast, suggestLate, suggestLong } from './suggest-watch.ts'
import { TestResult } from './test-result.tsx'

interface Props {
  /** To change it; otherwise it is a new one. */
  readonly watch?: Watch
  /** The process of a new watch; empty: the form asks for it. */
  readonly process?: string
  /** The row of the process on Home, if there is one. */
  readonly row?: OverviewProcess
  readonly channels: readonly Channel[]
  readonly watches?: readonly Watch[]
  /** It was saved. */
  done(): void
  close(): void
}

/** By the rhythm of its process, which `row` knows. */
function suggest(values: Values, row: OverviewProcess): Values {
  const late = suggestLate(row)
  const texts = { 'late/every': late?.every ?? '1d', 'late/grace': late?.grace ?? '1h', long: suggestLong(row) }
  return { ...values, on: { ...values.on, late: late !== undefined }, texts: { ...values.texts, ...texts } }
}

/** Reports no failure a second time, and notifies all channels. */
function begin(process: string, row: OverviewProcess | undefined, isReported: boolean, channels: readonly Channel[]) {
  const usable = channels.filter(({ state }) => state !== 'disabled').map(({ id }) => id)
  const values: Values = { ...NOTHING, process, on: { failed: !isReported }, channels: usable }
  return row === undefined ? values : suggest(values, row)
}

export function WatchDialog({ watch, process = '', row, channels, watches = [], done, close }: Props) {
  const { app } = useView()
  const reporter = watch === undefined ? watches.find((other) => reportsFailures(other, process)) : undefined
  const [before] = useState(() =>
    watch ? valuesOf(watch) : begin(process, row, row?.notified.failed ?? reporter !== undefined, channels),
  )
  const [values, setValues] = useState(before)
  const [address, setAddress] = useState({ isOn: watch === undefined && channels.length === 0, text: '' })
  const [made, setMade] = useState<{ lines: readonly string[]; secret?: string | undefined }>()
  const change = (changes: Partial<Values>) => setValues((now) => ({ ...now, ...changes }))
  const test = useBacktest(hasCondition(values) && values.process !== '' ? toWatch(values) : undefined)
  const suggested = useAllowance(values, watch === undefined ? test.preview : undefined, setValues)
  const untested = channels.filter(({ id, state }) => state === 'untested' && values.channels.includes(id))
  const isTested = address.isOn || (watch === undefined && untested.length > 0)

  async function enterProcess(name: string): Promise<void> {
    if (watch !== undefined || values.on.late || name === '' || name.includes('*')) return
    const answer = await app.api.get('api/overview', { process: name }).catch(() => undefined)
    const found = answer?.processes[0]
    if (found !== undefined) suggested(found)
  }
  async function save(): Promise<void> {
    if (!hasCondition(values)) throw new ApiError(422, 'fields_invalid', 'Choose at least one condition.', '')
    const lines: string[] = []
    let { channels: ids } = values
    let secret: string | undefined
    if (address.isOn) {
      const answer = await app.api.send('POST', 'api/channels?test=true', toChannel(address.text))
      ids = [...ids, answer.channel.id]
      secret = answer.channel.secret
      setAddress({ isOn: false, text: '' }) // it stays if the watch is refused
      change({ channels: ids })
      lines.push(`Test: ${answer.test?.detail ?? 'sent'}`)
    }
    const saved = { ...values, channels: ids }
    const changes = watch === undefined ? toWatch(saved) : changesOf(before, saved)
    if (watch === undefined) await app.api.send('POST', 'api/watches', changes)
    else if (Object.keys(changes).length > 0) await app.api.send('PATCH', `api/watches/${watch.id}`, changes)
    done()
    if (watch === undefined)
      for (const { id, name } of untested) lines.push(`Test of ${name}: ${await sendTest(app, id)}`)
    if (lines.length > 0) return setMade({ lines, secret })
    app.announce(watch === undefined ? 'Watch created.' : 'Watch saved.')
    close()
  }
  if (made !== undefined) return <TestResult {...made} title={`${values.process} is watched`} close={close} />
  const title = watch ? `Edit ${watch.name}` : process === '' ? 'Create watch' : `Watch ${process}`
  const cancel = (
    <button type="button" class="button" onClick={close}>
      Cancel
    </button>
  )
  const verb = watch === undefined ? 'Create' : 'Save'
  return (
    <Modal title={title} class="watch-dialog" close={close}>
      <Form submitLabel={isTested ? `${verb} and send test` : `${verb} watch`} submit={save} buttons={cancel}>
        <Fields
          values={values}
          before={before}
          change={change}
          isAsked={row === undefined}
          reporter={reporter?.name}
          entered={enterProcess}
        />
        <BacktestResult test={test} />
        <ChannelChoice
          channels={channels}
          address={address}
          setAddress={setAddress}
          chosen={values.channels}
          choose={(ids) => change({ channels: ids })}
        />
      </Form>
    </Modal>
  )
}

const sendTest = (app: App, id: string): Promise<string> =>
  app.api.send('POST', `api/channels/${id}/test`).then(
    ({ detail }) => detail,
    (error) => explain(error).detail,
  )

interface FieldsProps {
  readonly values: Values
  readonly before: Values
  /** The process can be entered. */
  readonly isAsked: boolean
  /** The watch that reports each failure already. */
  readonly reporter: string | undefined
  change(changes: Partial<Values>): void
  entered(process: string): Promise<void>
}

function Fields({ values, before, isAsked, reporter, change, entered }: FieldsProps) {
  const { app } = useView()
  const [processes, setProcesses] = useState<readonly ProcessEntry[]>([])
  useEffect(() => void app.askProcesses().then(setProcesses, () => {}), [])
  const sentence = { values, change }
  const input = (name: 'process' | 'name' | 'remind', label: string, hint: string, more: ComponentProps<'input'>) => (
    <FieldFrame name={name} label={label} hint={hint}>
      {(about) => (
        <input
          {...about}
          name={name}
          autocomplete="off"
          value={values[name]}
          {...more}
          onInput={({ currentTarget }) => change({ [name]: currentTarget.value })}
        />
      )}
    </FieldFrame>
  )
  const left = { maxLength: 250, required: true, list: 'watch-processes' }
  return (
    <>
      {isAsked &&
        input('process', 'Process', 'Exact, or with * for any text.', {
          ...left,
          onChange: ({ currentTarget }) => void entered(currentTarget.value),
        })}
      <datalist id="watch-processes">
        {processes.map(({ process }) => (
          <option key={process} value={process} />
        ))}
      </datalist>
      <fieldset class="checks">
        <legend>Notify when it</legend>
        <Sentence condition="late" {...sentence} />
        <Sentence condition="failed" {...sentence} after={reporter && ` (${reporter} reports that)`} />
        <Sentence condition="long" {...sentence} />
      </fieldset>
      <Fold label="More conditions" isOpen={hasMore(before)}>
        <fieldset class="checks">
          <legend class="hidden">More conditions</legend>
          {MORE.map((condition) => (
            <Sentence key={condition} condition={condition} {...sentence} />
          ))}
          <div class="watch-line">
            A failure counts after <Inline name="failed/after" condition="failed" {...sentence} /> in a row.
            <label>
              <input
                type="checkbox"
                checked={values.exceptions}
                onChange={({ currentTarget }) => change({ exceptions: currentTarget.checked })}
              />{' '}
              {FIELDS['failed/exceptions']!.label}
            </label>
          </div>
        </fieldset>
        <div class="field-pair">
          <Select
            label="Meta"
            options={metaOptions(processes, values.process, values.meta)}
            chosen={values.meta}
            choose={(meta) => change({ meta })}
          />
          {input('remind', FIELDS.remind!.label, 'Repeats the notification while it fires.', {
            placeholder: FIELDS.remind!.placeholder,
            maxLength: 12,
          })}
          {input('name', 'Name', 'Of the watch, in its notifications.', {
            placeholder: values.process,
            maxLength: 100,
          })}
        </div>
      </Fold>
    </>
  )
}

/** Conditions that few watches have. */
const MORE = CONDITIONS.filter((condition) => condition !== 'late' && condition !== 'failed' && condition !== 'long')

const hasMore = (values: Values): boolean =>
  MORE.some((condition) => values.on[condition]) ||
  [values.meta !== undefined, values.remind, !values.exceptions].some(Boolean) ||
  textOf(values, 'failed/after') !== '1'

/** Gives a suggested grace what the past needed. Returns what suggests; nobody's changes are overwritten. */
function useAllowance(
  values: Values,
  preview: WatchPreview | undefined,
  set: (next: (now: Values) => Values) => void,
): (row: OverviewProcess) => void {
  const suggested = useRef(values)
  const left = useRef(2)
  const take = (next: Values) => {
    suggested.current = next
    set(() => next)
  }
  useEffect(() => {
    if (preview === undefined || left.current === 0 || values !== suggested.current || !values.on.late) return
    const [every, grace] = [textOf(values, 'late/every'), textOf(values, 'late/grace')]
    const more = allowPast({ every, grace }, preview.alerts)
    if (more === undefined) return
    left.current--
    take({ ...values, texts: { ...values.texts, 'late/grace': more.grace } })
  }, [preview])
  return (row) =>
    set((now) => {
      const isTouched = now.on.late || now.on.long || textOf(now, 'late/kind') === 'cron'
      if (now.process !== row.process || isTouched) return now
      suggested.current = suggest(now, row)
      return suggested.current
    })
}
