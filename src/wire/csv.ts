// CSV as RFC 4180 has it, for the server, the command line and the console.
export type CsvValue = string | number | boolean | null | undefined | readonly unknown[] | object

/**
 * One line with its CRLF. Absent values are empty; lists and objects are JSON. Values are exact, except that with
 * `forSpreadsheets` an apostrophe goes before what would be read as a formula: at the beginning of a text, and where a
 * program that splits at semicolons or tabs begins a cell.
 */
export const formatCsvLine = (values: readonly CsvValue[], forSpreadsheets = false): string =>
  `${values.map((value) => formatCell(forSpreadsheets ? guard(value) : value)).join(',')}\r\n`

const guard = (value: CsvValue): CsvValue =>
  typeof value === 'string' ? value.replace(/^(?=[\t\r\n])|(?<=^|[;\t\r\n] *)(?=[=+\-@＝＋－＠])/g, "'") : value

function formatCell(value: CsvValue): string {
  const text =
    value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
