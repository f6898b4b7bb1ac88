// The timeline's colours, as the style sheet has them for the scheme of the moment: a canvas knows no style sheet.
import type { TimingState as RunState } from '../../wire/timings.ts'

export type Palette = Readonly<
  Record<RunState | 'overdue' | 'text' | 'muted' | 'line' | 'surface' | 'select' | 'onRun' | 'onStrong' | 'bad', string>
> & {
  readonly font: string
}

export function readPalette(element: Element): Palette {
  const style = getComputedStyle(element)
  const of = (name: string) => style.getPropertyValue(name).trim()
  return {
    completed: of('--run-completed'),
    failed: of('--run-failed'),
    running: of('--run-running'),
    overdue: of('--run-overdue'),
    abandoned: of('--run-failed'),
    orphan: of('--run-orphan'),
    onRun: of('--on-run'),
    onStrong: of('--on-strong'),
    text: of('--text'),
    muted: of('--muted'),
    bad: of('--bad'),
    line: of('--line-soft'),
    surface: of('--surface'),
    select: of('--select'),
    font: style.fontFamily,
  }
}
