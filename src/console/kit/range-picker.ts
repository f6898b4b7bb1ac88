// Chooses the range of time: presets that move with now, or, when the view was zoomed, what it is fixed to and the way back.
import { fill, h } from './dom.ts'
import { icon } from './icons.ts'
import type { Params } from './route.ts'
import { describeRange, fixRange, PRESETS, type TimeRange } from './time-range.ts'

export interface RangePicker {
  readonly element: HTMLElement
  show(range: TimeRange, nowMs: number): void
}

/** `choose` is told what to change in the address. */
export function createRangePicker(choose: (changes: Params) => void): RangePicker {
  let shown: TimeRange | undefined
  const presets = PRESETS.map(({ from, label }) => ({
    from,
    button: h('button', { type: 'button', onclick: () => choose({ from, to: undefined }) }, label),
  }))
  const fixed = h('p', { class: 'range-fixed' })
  const live = h(
    'button',
    { type: 'button', class: 'button', onclick: () => choose({ from: '-1h', to: undefined }) },
    'Back to live',
  )

  const move = (fromShare: number, toShare: number) => () => {
    if (shown === undefined) return
    const { fromMs, toMs } = shown
    const lengthMs = toMs - fromMs
    choose(fixRange(fromMs + fromShare * lengthMs, toMs + toShare * lengthMs))
  }
  const step = (name: 'earlier' | 'later' | 'zoomIn' | 'zoomOut', label: string, act: () => void) =>
    h(
      'button',
      { type: 'button', class: 'button button-icon-only', 'aria-label': label, title: label, onclick: act },
      icon(name),
    )

  const steps = h(
    'div',
    { class: 'button-row' },
    step('earlier', 'Earlier', move(-0.5, -0.5)),
    step('zoomOut', 'Zoom out', move(-0.5, 0.5)),
    step('zoomIn', 'Zoom in', move(0.25, -0.25)),
    step('later', 'Later', move(0.5, 0.5)),
  )
  const chosen = h('div', { class: 'range-chosen' })
  return {
    element: h(
      'div',
      { class: 'range', role: 'group', 'aria-label': 'Range of time' },
      h('div', { class: 'segments' }, ...presets.map(({ button }) => button)),
      steps,
      chosen,
    ),
    show(range, nowMs) {
      shown = range
      for (const { from, button } of presets)
        button.setAttribute('aria-pressed', String(range.isLive && range.query.from === from))
      const text = describeRange(range, nowMs)
      fixed.textContent = text ?? ''
      fill(chosen, ...(text === undefined ? [] : [fixed, live]))
    },
  }
}
