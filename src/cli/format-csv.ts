// RFC 4180: CRLF, a heading, quotes where they are needed. Cells are exact, also those that a spreadsheet would take for a formula: this is
// for programs, and a changed cell would be a wrong one.

export type CsvValue = string | number | boolean | null | undefined | readonly unknown[] | object

/** One line with its CRLF. Absent values are empty; lists and objects are JSON. */
export const formatCsvLine = (values: readonly CsvValue[]): string => `${values.map(formatCell).join(',')}\r\n`

function formatCell(value: CsvValue): string {
  const text =
    value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
