// The timeline's colours, as the style sheet has them for the scheme of the moment: a canvas knows no style sheet.
import type { Palette } from './draw-timeline.ts'

export function readPalette(element: Element): Palette {
  const style = getComputedStyle(element)
  const of = (name: string) => style.getPropertyValue(name).trim()
  return {
    completed: of('--run-completed'),
    running: of('--run-running'),
    abandoned: of('--run-abandoned'),
    orphan: of('--run-orphan'),
    onRun: of('--on-run'),
    onRunning: of('--on-running'),
    text: of('--text'),
    muted: of('--muted'),
    line: of('--line-soft'),
    surface: of('--surface'),
    select: of('--select'),
    font: style.fontFamily,
  }
}
