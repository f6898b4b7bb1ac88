// A watch, new or changed: one sentence with fields in it, more conditions folded, what it would have fired, and whom it
// notifies. A new channel is tested in place.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Channel } from '../../wire/channels.ts'
import type { OverviewProcess } from '../../wire/overview.ts'
import type { WatchPreview } from '../../wire/watch-preview.ts'
import type { Watch } from '../../wire/watches.ts'
import { ApiError } from '../kit/api.ts'
import type { App } from '../kit/app.ts'
import { explain } from '../kit/explain.ts'
import { Form } from '../kit/form.tsx'
import { Modal } from '../kit/modal.tsx'
import { useView } from '../kit/view.tsx'
import { BacktestResult, useBacktest } from './backtest.tsx'
import { ChannelChoice, toChannel } from './channel-choice.tsx'
import { allowPast } from './suggest-watch.ts'
import { TestResult } from './test-result.tsx'
import { CommonLines } from './watch-lines.tsx'
import { MoreConditions, ProcessField, useProcesses } from './watch-target.tsx'
import type { WatchValues } from './watch-values.ts'
import {
  beginWatch,
  changesOf,
  hasCondition,
  reportsFailures,
  suggestValues,
  toWatch,
  valuesOf,
} from './watch-values.ts'

interface Props {
  /** To change it; otherwise it is a new one. */
  readonly watch?: Watch
  /** Of a new one; empty: somebody enters it. */
  readonly process?: string
  /** What is known of the process. */
  readonly row?: OverviewProcess
  readonly channels: readonly Channel[]
  readonly watches?: readonly Watch[]
  /** It was saved. */
  done(): void
  close(): void
}

interface Made {
  readonly lines: readonly string[]
  readonly secret?: string | undefined
}

export function WatchDialog({ watch, process = '', row, channels, watches = [], done, close }: Props) {
  const { app } = useView()
  const reporter = watch === undefined ? watches.find((other) => reportsFailures(other, process)) : undefined
  const [before] = useState(() => {
    if (watch !== undefined) return valuesOf(watch)
    return beginWatch(process, row, row?.notified.failed ?? reporter !== undefined, channels)
  })
  const [values, setValues] = useState(before)
  const [address, setAddress] = useState({ isOn: watch === undefined && channels.length === 0, text: '' })
  const [made, setMade] = useState<Made>()
  const processes = useProcesses(app)
  const change = (changes: Partial<WatchValues>) => setValues((now) => ({ ...now, ...changes }))
  const test = useBacktest(hasCondition(values) && values.process !== '' ? toWatch(values) : undefined)
  const suggest = useAllowance(values, watch === undefined ? test.preview : undefined, setValues)
  const untested = channels.filter(({ id, state }) => state === 'untested' && values.channels.includes(id))
  const isTested = address.isOn || (watch === undefined && untested.length > 0)

  async function enterProcess(name: string): Promise<void> {
    if (watch !== undefined || values.isLate || name === '' || name.includes('*')) return
    const answer = await app.api.get('api/overview', { process: name }).catch(() => undefined)
    const found = answer?.processes[0]
    if (found !== undefined) suggest(name, suggestValues(found))
  }

  async function save(): Promise<void> {
    if (!hasCondition(values)) throw new ApiError(422, 'fields_invalid', 'Choose at least one condition.', '')
    const tested: string[] = []
    let { channels: ids } = values
    let secret: string | undefined
    if (address.isOn) {
      const answer = await app.api.send('POST', 'api/channels?test=true', toChannel(address.text))
      ids = [...ids, answer.channel.id]
      secret = answer.channel.secret
      setAddress({ isOn: false, text: '' }) // it stays if the watch is refused
      change({ channels: ids })
      tested.push(`Test: ${answer.test?.detail ?? 'sent'}`)
    }
    const saved = { ...values, channels: ids }
    if (watch === undefined) await app.api.send('POST', 'api/watches', toWatch(saved))
    else {
      const changes = changesOf(before, saved)
      if (Object.keys(changes).length > 0) await app.api.send('PATCH', `api/watches/${watch.id}`, changes)
    }
    done()
    if (watch === undefined)
      for (const { id, name } of untested) tested.push(`Test of ${name}: ${await sendTest(app, id)}`)
    if (tested.length > 0) return setMade({ lines: tested, secret })
    app.announce(watch === undefined ? 'Watch created.' : 'Watch saved.')
    close()
  }

  if (made !== undefined) return <TestResult {...made} title={`${values.process} is watched`} close={close} />
  const title = watch === undefined ? (process === '' ? 'Create watch' : `Watch ${process}`) : `Edit ${watch.name}`
  const verb = watch === undefined ? 'Create' : 'Save'
  return (
    <Modal title={title} class="watch-dialog" close={close}>
      <Form
        submitLabel={isTested ? `${verb} and send test` : `${verb} watch`}
        submit={save}
        buttons={
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
        }
      >
        {row === undefined && (
          <ProcessField {...{ values, processes, change }} entered={(name) => void enterProcess(name)} />
        )}
        <CommonLines values={values} reporter={reporter?.name} change={change} />
        <MoreConditions {...{ values, processes, before, change }} />
        <BacktestResult test={test} nowMs={app.nowMs()} />
        <ChannelChoice
          {...{ channels, address, setAddress }}
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

/** Gives a suggested grace what the past needed. Returns what suggests values; nobody's changes are overwritten. */
function useAllowance(
  values: WatchValues,
  preview: WatchPreview | undefined,
  set: StateUpdater<WatchValues>,
): (process: string, some: Partial<WatchValues>) => void {
  const suggested = useRef(values)
  const left = useRef(2)
  useEffect(() => {
    if (preview === undefined || left.current === 0 || values !== suggested.current || !values.isLate) return
    const more = allowPast(values, preview.alerts)
    if (more === undefined) return
    left.current--
    suggested.current = { ...values, ...more }
    set(suggested.current)
  }, [preview])
  return (process, some) =>
    set((now) => {
      if (now.process !== process || now.isLate || now.isLong || now.kind === 'cron') return now
      suggested.current = { ...now, ...some }
      return suggested.current
    })
}

type StateUpdater<T> = (next: T | ((now: T) => T)) => void
