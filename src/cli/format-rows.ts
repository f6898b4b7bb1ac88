// Rows as a table for people. Cells are escaped, and widths are those of a terminal (CJK and emoji take two cells).
import { oneLine, type Paint, type Style } from './safe-text.ts'

export interface Column {
  readonly title: string
  readonly align?: 'right'
  /** May be cut if the line is too long. */
  readonly cut?: boolean
  /** Left out, the last one first, before others are cut so short that names cannot be told apart. */
  readonly spare?: boolean
}

export type Cell = string | { readonly text: string; readonly style: Style }

export interface Look {
  /** Width of the terminal in cells; without it nothing is cut. */
  readonly width?: number
  readonly paint?: Paint
}

const GAP = '  '
const MIN_CUT_WIDTH = 8
/** Enough to tell most names apart. */
const NAME_WIDTH = 16
const segments = new Intl.Segmenter()

/** Includes a heading; ends with a line break. The last line names the columns that the terminal has no room for. */
export function formatTable(
  columns: readonly (string | Column)[],
  rows: readonly (readonly Cell[])[],
  { width = Number.POSITIVE_INFINITY, paint = (text) => text }: Look = {},
): string {
  const heads = columns.map((column): Column => (typeof column === 'string' ? { title: column } : column))
  const head = heads.map(({ title }): Cell => ({ text: title, style: 'bold' }))
  const lines = [head, ...rows].map((row) =>
    row.map((cell) => (typeof cell === 'string' ? { text: oneLine(cell) } : { ...cell, text: oneLine(cell.text) })),
  )
  const widths = heads.map((_, i) =>
    lines.reduce((widest, line) => Math.max(widest, Bun.stringWidth(line[i]!.text)), 0),
  )
  const shown = chooseColumns(widths, heads, width)
  shrink(widths, heads, shown, width)

  const layOut = (line: (typeof lines)[number], i: number): string => {
    const cell = line[i]!
    const text = cutToWidth(cell.text, widths[i]!)
    const padding = ' '.repeat(Math.max(0, widths[i]! - Bun.stringWidth(text)))
    const painted = 'style' in cell ? paint(text, cell.style) : text
    if (heads[i]!.align === 'right') return padding + painted
    return i === shown.at(-1) ? painted : painted + padding
  }
  const left = heads.flatMap(({ title }, i) => (shown.includes(i) ? [] : [title]))
  const note = left.length === 0 ? '' : `${paint(`No room for ${left.join(', ')}: see --csv`, 'dim')}\n`
  const texts = lines.map((line) => shown.map((i) => layOut(line, i)).join(GAP))
  return texts.map((text) => `${text.trimEnd()}\n`).join('') + note
}

const lineWidth = (widths: readonly number[]): number =>
  widths.reduce((sum, each) => sum + each, GAP.length * (widths.length - 1))

/** Leaves out spare columns until the line fits with its names cut to their least width. */
function chooseColumns(widths: readonly number[], heads: readonly Column[], width: number): number[] {
  const shown = [...heads.keys()]
  const least = () => lineWidth(shown.map((i) => (heads[i]!.cut ? Math.min(widths[i]!, NAME_WIDTH) : widths[i]!)))
  while (least() > width) {
    const spare = shown.findLastIndex((i) => heads[i]!.spare)
    if (spare === -1) break
    shown.splice(spare, 1)
  }
  return shown
}

/** Narrows the widest of the columns that may be cut until the line fits or all of them have the least width. */
function shrink(widths: number[], heads: readonly Column[], shown: readonly number[], width: number): void {
  const cut = shown.filter((i) => heads[i]!.cut)
  let excess = lineWidth(shown.map((i) => widths[i]!)) - width
  while (excess > 0) {
    const widest = Math.max(...cut.map((i) => widths[i]!))
    if (widest <= MIN_CUT_WIDTH) return
    widths[cut.find((i) => widths[i] === widest)!] = widest - 1
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
