// Chooses the time range: live presets, or a fixed range.
import { useRef, useState } from 'preact/hooks'
import { readMoment, writeMoment, zoneName } from './format-time.ts'
import type { Params } from './route.ts'
import { Segments } from './segments.tsx'
import { describeRange, fixRange, liveFrom, PRESETS, type TimeRange } from './time-range.ts'
import { useId } from './use-id.ts'
import { useRange, useView } from './view.tsx'

interface PickerProps {
  /** The range without one in the address. */
  readonly fallback?: string | undefined
  /** Parameters that end with a change. */
  readonly ends?: readonly string[]
}

interface Props {
  readonly range: TimeRange
  readonly nowMs: number
  /** Gets the URL parameters to change. */
  choose(changes: Params): void
}

export function RangePicker({ fallback, ends = [] }: PickerProps) {
  const { nowMs, change } = useView()
  const range = useRange(fallback)
  const choose = (changes: Params) => change({ ...Object.fromEntries(ends.map((it) => [it, undefined])), ...changes })
  const fixed = describeRange(range, nowMs)
  const live = () => choose({ from: liveFrom(range.toMs - range.fromMs), to: undefined })
  return (
    <fieldset class="range">
      <legend class="hidden">Time range</legend>
      <Segments
        label="Range"
        items={PRESETS.map(({ from, label }) => ({ value: from, label }))}
        chosen={range.isLive ? range.query.from : undefined}
        choose={(from) => choose({ from, to: undefined })}
      >
        <CustomRange {...{ range, nowMs, choose }} />
      </Segments>
      {fixed !== undefined && (
        <div class="range-chosen">
          <p class="range-fixed">{fixed}</p>
          <button type="button" class="button" onClick={live}>
            Back to live
          </button>
        </div>
      )}
    </fieldset>
  )
}

function faultOf(fromMs: number, toMs: number, nowMs: number): string | undefined {
  if (Number.isNaN(fromMs) || Number.isNaN(toMs)) return 'Enter both times.'
  if (fromMs >= toMs) return 'From must be earlier than To.'
  return fromMs >= nowMs ? 'From must not be in the future.' : undefined
}

/** The fields are the browser's until they are applied: a poll changes nothing that somebody is writing. */
function CustomRange({ range, nowMs, choose }: Props) {
  const id = useId()
  const [fault, setFault] = useState('')
  const [from, to] = [useRef<HTMLInputElement>(null), useRef<HTMLInputElement>(null)]
  const popover = useRef<HTMLDivElement>(null)
  function fillIn(): void {
    setFault('')
    from.current!.value = writeMoment(range.fromMs)
    to.current!.value = writeMoment(range.toMs)
  }
  function apply(event: Event): void {
    event.preventDefault()
    const [fromMs, toMs] = [readMoment(from.current!.value), readMoment(to.current!.value)]
    const wrong = faultOf(fromMs, toMs, nowMs)
    setFault(wrong ?? '')
    if (wrong !== undefined) return
    popover.current!.hidePopover()
    choose(fixRange(fromMs, Math.min(toMs, nowMs)))
  }
  function fix(): void {
    popover.current!.hidePopover()
    choose(fixRange(range.fromMs, range.toMs))
  }
  const moment = (label: string, ref: typeof from) => (
    <div class="field">
      <label for={`${id}-${label}`}>{label}</label>
      <input id={`${id}-${label}`} ref={ref} type="datetime-local" step={1} required />
    </div>
  )
  return (
    <>
      <button
        type="button"
        class="range-custom"
        aria-pressed={!range.isLive}
        popovertarget={id}
        tabIndex={range.isLive ? -1 : 0}
      >
        Custom
      </button>
      <div class="popover" id={id} popover="auto" ref={popover} onBeforeToggle={fillIn}>
        <form class="form" noValidate onSubmit={apply}>
          {moment('From', from)}
          {moment('To', to)}
          <p class="field-hint">
            Times in {zoneName(nowMs)}.
            {range.isLive && ' “This range” stops the clock: a link to it shows the same to others.'}
          </p>
          <p class="field-fault" role="alert">
            {fault}
          </p>
          <div class="form-buttons">
            <button type="submit" class="button button-main">
              Apply
            </button>
            {range.isLive && (
              <button type="button" class="button" onClick={fix}>
                This range
              </button>
            )}
          </div>
        </form>
      </div>
    </>
  )
}
