// The input of one frame of the timeline.
import type { TimingState as RunState } from '../../wire/timings.ts'
import type { Layout, Scale, Tick } from './geometry.ts'
import type { Run } from './run.ts'

export interface Picture {
  readonly layout: Layout
  readonly scale: Scale
  readonly heightPx: number
  /** Vertical scroll position. */
  readonly scrollPx: number
  readonly nowMs: number
  readonly palette: Palette
  readonly exceptions: readonly Tick[]
  /** The usual duration, which decides whether a run is overdue. */
  usualMs(run: Run): number | undefined
  readonly hovered: Run | undefined
  readonly chosenId: string | undefined
  /** The time under the pointer, here or on a chart below. */
  readonly crosshairMs: number | undefined
  readonly older: OlderRuns | undefined
  /** The dragged selection, in horizontal px. */
  readonly selection: readonly [number, number] | undefined
}

/** Runs that are not loaded, as counts per interval: drawn where the timeline would otherwise be empty. */
export interface OlderRuns {
  /** All of them started before. */
  readonly untilMs: number
  readonly everyMs: number
  /** By process. */
  readonly counts: ReadonlyMap<string, readonly OlderCount[]>
}
export interface OlderCount {
  readonly atMs: number
  readonly runs: number
  /** Of these, failed or never finished. */
  readonly troubles: number
}

export type Context = CanvasRenderingContext2D

// The style sheet's colours in the current colour scheme: a canvas cannot use custom properties.
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
