// Two outputs, line by line: the lines that only one of them has. Digits are masked before lines are compared, so that
// a counter or a clock makes no difference. Pure.

export type DiffLine =
  | { readonly kind: 'both' | 'run' | 'other'; readonly text: string }
  /** Lines that both have and that are not shown. */
  | { readonly kind: 'folded'; readonly lines: number }

export const CHARS_MAX = 12_000
/** Lines of each output; the comparison needs their product. */
const LINES_MAX = 400
/** Equal lines that are shown beside a difference. */
const CONTEXT = 2

/** The lines of the end of a text, the first one whole. */
export function lastLines(text: string): string[] {
  const end = text.slice(-CHARS_MAX).replace(/\r\n?/g, '\n').replace(/\n+$/, '')
  const lines = end === '' ? [] : end.split('\n')
  const isCut = text.length > CHARS_MAX && lines.length > 1
  return lines.slice(isCut ? 1 : 0).slice(-LINES_MAX)
}

/** Hours, dates, durations, counters, ports and ids in decimals. */
const mask = (line: string): string => line.replace(/\d+/g, '0').trimEnd()

/** Empty if neither has a line; one folded entry if they are equal. */
export function diffLines(run: string, other: string): readonly DiffLine[] {
  const [mine, theirs] = [lastLines(run), lastLines(other)]
  const [a, b] = [mine.map(mask), theirs.map(mask)]
  const longest = commonLengths(a, b)
  const found: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && a[i] === b[j]) {
      found.push({ kind: 'both', text: mine[i]! })
      i++
      j++
    } else if (j < b.length && (i === a.length || longest(i, j + 1) >= longest(i + 1, j))) {
      found.push({ kind: 'other', text: theirs[j++]! })
    } else found.push({ kind: 'run', text: mine[i++]! })
  }
  return fold(found)
}

/** How many lines `a` from i and `b` from j have in common, in order. */
function commonLengths(a: readonly string[], b: readonly string[]): (i: number, j: number) => number {
  const width = b.length + 1
  const lengths = new Uint16Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        a[i] === b[j]
          ? 1 + lengths[(i + 1) * width + j + 1]!
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!)
  return (i, j) => lengths[i * width + j]!
}

/** Only the equal lines beside a difference stay. */
function fold(lines: readonly DiffLine[]): DiffLine[] {
  const folded: DiffLine[] = []
  for (let from = 0; from < lines.length; ) {
    let to = from
    while (to < lines.length && lines[to]!.kind === 'both') to++
    const [before, after] = [from === 0 ? 0 : CONTEXT, to === lines.length ? 0 : CONTEXT]
    const hidden = to - from - before - after
    if (hidden > 1) {
      folded.push(
        ...lines.slice(from, from + before),
        { kind: 'folded', lines: hidden },
        ...lines.slice(to - after, to),
      )
    } else folded.push(...lines.slice(from, to))
    if (to < lines.length) folded.push(lines[to]!)
    from = to + 1
  }
  return folded
}
