// Everything that one frame of the timeline is drawn from.
import type { Layout, Scale } from './geometry.ts'
import type { Palette } from './palette.ts'
import type { Tick } from './place-exceptions.ts'
import type { Run } from './run.ts'

export interface Picture {
  readonly layout: Layout
  readonly scale: Scale
  readonly heightPx: number
  /** How far it is scrolled down. */
  readonly scrollPx: number
  readonly nowMs: number
  readonly palette: Palette
  readonly exceptions: readonly Tick[]
  /** Usual durations, for what is overdue. */
  usualMs(run: Run): number | undefined
  readonly hovered: Run | undefined
  readonly chosenId: string | undefined
  /** The moment under the pointer, here or on a chart below. */
  readonly crosshairMs: number | undefined
  /** The dragged selection, px across. */
  readonly selection: readonly [number, number] | undefined
}

export type Context = CanvasRenderingContext2D
