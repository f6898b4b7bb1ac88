// Rows as a table for people. Cells are escaped, and widths are those of a terminal (CJK and emoji take two cells).
import { oneLine, type Paint, type Style } from './safe-text.ts'

export interface Column {
  readonly title: string
  readonly align?: 'right'
  /** May be cut if the line is too long. */
  readonly cut?: boolean
}

export type Cell = string | { readonly text: string; readonly style: Style }

export interface Look {
  /** Width of the terminal in cells; without it nothing is cut. */
  readonly width?: number
  readonly paint?: Paint
}

const GAP = '  '
const MIN_CUT_WIDTH = 8
const segments = new Intl.Segmenter()

/** Includes a heading; ends with a line break. */
export function formatTable(
  columns: readonly (string | Column)[],
  rows: readonly (readonly Cell[])[],
  { width, paint = (text) => text }: Look = {},
): string {
  const heads = columns.map((column): Column => (typeof column === 'string' ? { title: column } : column))
  const head = heads.map(({ title }): Cell => ({ text: title, style: 'bold' }))
  const lines = [head, ...rows].map((row) =>
    row.map((cell) => (typeof cell === 'string' ? { text: oneLine(cell) } : { ...cell, text: oneLine(cell.text) })),
  )
  const widths = heads.map((_, i) =>
    lines.reduce((widest, line) => Math.max(widest, Bun.stringWidth(line[i]!.text)), 0),
  )
  if (width !== undefined) shrink(widths, heads, width)

  const layOut = (cell: { readonly text: string; readonly style?: Style }, i: number): string => {
    const text = cutToWidth(cell.text, widths[i]!)
    const padding = ' '.repeat(Math.max(0, widths[i]! - Bun.stringWidth(text)))
    const shown = cell.style === undefined ? text : paint(text, cell.style)
    if (heads[i]!.align === 'right') return padding + shown
    return i === heads.length - 1 ? shown : shown + padding
  }
  return lines.map((line) => `${line.map(layOut).join(GAP).trimEnd()}\n`).join('')
}

/** Narrows the widest of the columns that may be cut until the line fits or all of them have the least width. */
function shrink(widths: number[], heads: readonly Column[], width: number): void {
  let excess = widths.reduce((sum, each) => sum + each, GAP.length * (widths.length - 1)) - width
  while (excess > 0) {
    const widest = Math.max(...widths.filter((_, i) => heads[i]!.cut))
    if (widest <= MIN_CUT_WIDTH) return
    widths[heads.findIndex(({ cut }, i) => cut && widths[i] === widest)] = widest - 1
    excess--
  }
}

/** At most `width` cells; `…` replaces the rest. */
export function cutToWidth(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text
  let kept = ''
  for (const { segment } of segments.segment(text)) {
    if (Bun.stringWidth(kept + segment) >= width) break
    kept += segment
  }
  return `${kept}…`
}
