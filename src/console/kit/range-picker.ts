// Chooses the time range (live presets, a fixed range, steps, zoom) and the time zone.
import { copyButton } from './copy-button.ts'
import { button, fill, h, setText } from './dom.ts'
import { labelled } from './form.ts'
import { chooseZone, currentZone, readMoment, writeMoment, zoneName } from './format-time.ts'
import { icon } from './icons.ts'
import { changeParams, formatRoute, type Params, parseRoute } from './route.ts'
import { describeRange, fixRange, liveFrom, PRESETS, type TimeRange } from './time-range.ts'

/** Fired on the window when the zone changes: all times on the page must be rewritten. */
export const ZONE_CHANGED = 'stint-zone'

let pickers = 0

/** `choose` gets the URL parameters to change. */
export function createRangePicker(choose: (changes: Params) => void) {
  const id = `range-${++pickers}`
  let shown: { readonly range: TimeRange; readonly nowMs: number } | undefined
  const presets = PRESETS.map(({ from, label }) => ({
    from,
    button: h('button', { type: 'button', onclick: () => choose({ from, to: undefined }) }, label),
  }))
  const fixed = h('p.range-fixed')
  const live = button(
    'Back to live',
    () => shown !== undefined && choose({ from: liveFrom(shown.range.toMs - shown.range.fromMs), to: undefined }),
  )
  const zone = h('button.button', {
    type: 'button',
    title: 'Switch between UTC and local time',
    onclick: () => {
      chooseZone(currentZone() === 'UTC' ? 'local' : 'UTC')
      dispatchEvent(new Event(ZONE_CHANGED))
    },
  })

  /** Moves both ends by a share of the length. A range that would end in the future ends now and becomes live. */
  const move = (fromShare: number, toShare: number) => () => {
    if (shown === undefined) return
    const { range, nowMs } = shown
    const lengthMs = range.toMs - range.fromMs
    const [fromMs, toMs] = [range.fromMs + fromShare * lengthMs, range.toMs + toShare * lengthMs]
    choose(toMs >= nowMs ? { from: liveFrom(toMs - fromMs), to: undefined } : fixRange(fromMs, toMs))
  }
  const step = (name: 'earlier' | 'later' | 'zoomIn' | 'zoomOut', label: string, act: () => void) =>
    h('button.button.button-icon-only', { type: 'button', 'aria-label': label, title: label, onclick: act }, icon(name))
  const later = step('later', 'Later', move(0.5, 0.5))
  const steps = h(
    'div.button-row',
    step('earlier', 'Earlier', move(-0.5, -0.5)),
    step('zoomOut', 'Zoom out', move(-0.5, 0.5)),
    step('zoomIn', 'Zoom in', move(0.25, -0.25)),
    later,
  )

  const moment = (label: string) => {
    const input = h('input', { type: 'datetime-local', step: 1, required: true })
    return { input, field: labelled(label, input) }
  }
  const [from, to] = [moment('From'), moment('To')]
  const fault = h('p.field-fault', { role: 'alert' })
  const zoneHint = h('p.field-hint')
  const form = h(
    'form.form',
    {
      novalidate: true,
      onsubmit: (event: Event) => {
        event.preventDefault()
        const [fromMs, toMs] = [readMoment(from.input.value), readMoment(to.input.value)]
        const nowMs = shown?.nowMs ?? 0
        if (Number.isNaN(fromMs) || Number.isNaN(toMs)) setText(fault, 'Enter both times.')
        else if (fromMs >= toMs) setText(fault, 'From must be earlier than To.')
        else if (fromMs >= nowMs) setText(fault, 'From must not be in the future.')
        else {
          setText(fault, '')
          popover.hidePopover()
          choose(fixRange(fromMs, Math.min(toMs, nowMs)))
        }
      },
    },
    from.field,
    to.field,
    zoneHint,
    fault,
    h(
      'div.form-buttons',
      h('button.button.button-main', { type: 'submit' }, 'Apply'),
      copyButton('Copy link to this range', fixedLink),
    ),
  )
  const popover = h('div.popover', { id, popover: 'auto' }, form)
  popover.addEventListener('beforetoggle', () => {
    if (shown === undefined) return
    from.input.value = writeMoment(shown.range.fromMs)
    to.input.value = writeMoment(shown.range.toMs)
    setText(zoneHint, `Times in ${zoneName(shown.nowMs)}.`)
    setText(fault, '')
  })
  const custom = h('button.range-custom', { type: 'button', popovertarget: id }, 'Custom')

  /** A link to this view with a fixed range: it shows the same whenever it is opened. */
  function fixedLink(): string {
    const { page, params } = parseRoute(location.hash)
    const range = shown === undefined ? {} : fixRange(shown.range.fromMs, shown.range.toMs)
    return new URL(formatRoute(page, changeParams(params, range)), location.href).href
  }

  const chosen = h('div.range-chosen')
  return {
    element: h(
      'div.range',
      { role: 'group', 'aria-label': 'Time range' },
      h('div.segments', ...presets.map(({ button }) => button), custom),
      popover,
      steps,
      zone,
      chosen,
    ),
    show(range: TimeRange, nowMs: number) {
      shown = { range, nowMs }
      for (const { from, button } of presets)
        button.setAttribute('aria-pressed', String(range.isLive && range.query.from === from))
      custom.setAttribute('aria-pressed', String(!range.isLive))
      later.disabled = range.isLive
      setText(zone, zoneName(nowMs))
      const text = describeRange(range, nowMs)
      fixed.textContent = text ?? ''
      fill(chosen, ...(text === undefined ? [] : [fixed, live]))
    },
  }
}
