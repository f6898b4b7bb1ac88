// Rows in columns, for people. What came from elsewhere cannot move the cursor or colour the terminal.

const GAP = '  '

const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** The text with everything that is not printed, line breaks too, as �. */
export const oneLine = (text: string): string => text.toWellFormed().replace(UNPRINTABLE, '\ufffd')

/** Columns as wide as their widest cell; cells are made one-line. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((row) => row.map(oneLine))
  const widths = head.map((_, column) => Math.max(...lines.map((row) => Bun.stringWidth(row[column]!))))
  const pad = (cell: string, column: number) => cell + ' '.repeat(widths[column]! - Bun.stringWidth(cell))
  return `${lines.map((row) => row.map(pad).join(GAP).trimEnd()).join('\n')}\n`
}
