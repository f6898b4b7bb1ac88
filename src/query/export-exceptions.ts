// All exceptions of a selection as CSV or JSON lines: readers set the pace, and one page is in memory at a time.
import type { ExceptionRow, ExceptionSelection, ExceptionSource, Page } from '../store/source.ts'
import { formatCsvLine } from '../wire/csv.ts'
import { EXPORT_FIELDS, EXPORT_MAX } from '../wire/exceptions.ts'
import type { EXPORT_FORMATS } from '../wire/parameters.ts'
import { type Exported, exportException } from './answers.ts'
import { assertExport } from './limits.ts'
import type { Question } from './question.ts'

const PAGE_ROWS = 1_000
/** Takes a millisecond at worst. */
const SLICE_CHARS = 128 * 1024

const TO_LINE = {
  csv: (row: Exported) =>
    formatCsvLine(
      EXPORT_FIELDS.map((field) => row[field]),
      true,
    ),
  jsonl: (row: Exported) => `${JSON.stringify(row)}\n`,
} as const satisfies Record<(typeof EXPORT_FORMATS)[number], (row: Exported) => string>

/** Asks for what is selected, in a turn of its own. */
export type InTurn = <T>(find: (selection: ExceptionSelection) => Promise<T>) => Promise<T>

/** `max`: of one export. Rejects with `question_too_large` before the first piece, later `store_unavailable`. */
export async function exportExceptions(
  source: ExceptionSource,
  inTurn: InTurn,
  { format = 'csv' }: Pick<Question, 'format'>,
  max = EXPORT_MAX,
) {
  const counts = await inTurn((selection) => source.countExceptions(selection))
  assertExport(
    counts.reduce((sum, { count }) => sum + count, 0),
    max,
  )
  return { format, file: writeFile(format, (page) => inTurn((selection) => source.findExceptions(selection, page))) }
}

/** Yields pieces of the file. `find` returns the newest first. */
async function* writeFile(
  format: keyof typeof TO_LINE,
  find: (page: Page) => Promise<readonly ExceptionRow[]>,
): AsyncGenerator<string> {
  let text = format === 'csv' ? formatCsvLine(EXPORT_FIELDS) : ''
  let after: Page['after']
  for (;;) {
    const rows = await find({ limit: PAGE_ROWS, after })
    for (const row of rows) {
      text += TO_LINE[format](exportException(row))
      if (text.length < SLICE_CHARS) continue
      yield text
      text = ''
    }
    if (rows.length < PAGE_ROWS) break
    after = rows.at(-1)!.place
  }
  if (text !== '') yield text
}
