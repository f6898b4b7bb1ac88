// What all questions share: flags to parameters, the pages of the answer, and its three forms: a table for people, JSON and CSV for programs.
import { createApi } from '../api.ts'
import { readCliConfig } from '../config.ts'
import { type CsvValue, formatCsvLine } from '../format-csv.ts'
import { CliError, EXIT_USAGE, type Io } from '../io.ts'
import { oneLine, safeJson } from '../one-line.ts'
import { createPaint } from '../paint.ts'
import type { Program } from '../program.ts'
import { type Cell, type Column, formatTable } from '../text-table.ts'
import { askPages, type Page } from './ask-pages.ts'
import { type FilterName, type Filters, flagOf } from './filters.ts'

export interface OutputOptions {
  readonly json?: boolean
  readonly csv?: boolean
}

export interface QuestionOptions extends Filters, OutputOptions {
  readonly all?: boolean
}

/** One way to answer: where to ask, and how a row is shown. */
export interface Shape<Row> {
  readonly path: string
  /** The member of the answer that holds the rows. */
  readonly list: string
  /** Of a row, in the order of the CSV. */
  readonly fields: readonly string[]
  readonly columns: readonly Column[]
  cells(row: Row): readonly Cell[]
  /** Instead of the table. */
  readonly print?: (row: Row) => string
  /** Said when there are no rows. */
  readonly nothing: string
}

/** A page that is as large as one may be. */
const ALL_LIMIT = '1000'

export const JSON_FLAG = ['--json', 'print the answer as JSON, one row a line'] as const
/** Where there are pages. */
export const ALL_FLAG = ['--all', 'everything, page by page'] as const
export const CSV_FLAG = ['--csv', 'print CSV with a heading (RFC 4180)'] as const

/** A command with flags for its filters and for the form of the answer. */
export function addQuestion(
  program: Program,
  name: string,
  description: string,
  filters: readonly FilterName[],
): Program {
  const command = program.command(name).description(description)
  for (const filter of filters) command.option(...flagOf(filter))
  return command.option(...JSON_FLAG).option(...CSV_FLAG)
}

/** Asks and prints. Throws CliError. */
export async function answerQuestion<Row>(
  io: Io,
  shape: Shape<Row>,
  options: QuestionOptions,
  parameters: URLSearchParams,
): Promise<void> {
  checkForm(options)
  const isAll = options.all === true
  if (isAll && options.limit === undefined) parameters.set('limit', ALL_LIMIT)
  const pages = askPages(createApi(readCliConfig(io.env), io), shape.path, shape.list, parameters, isAll)
  if (options.json) return printJson(io, shape.list, pages)
  const next = options.csv ? await printCsv(io, shape, pages) : await printTable(io, shape, pages)
  if (typeof next === 'string') io.stderr.write('There are more: --all shows everything.\n')
}

export function checkForm({ json, csv }: OutputOptions): void {
  if (json && csv) throw new CliError('--json and --csv do not go together', EXIT_USAGE)
}

/** One document, the rows as they came: written page by page, so that any number of them needs no memory. */
async function printJson(io: Io, list: string, pages: AsyncGenerator<Page>): Promise<void> {
  let count = 0
  let isFirst = true
  let last: Page['next']
  for await (const { rows, next } of pages) {
    if (isFirst) io.stdout.write(`{${JSON.stringify(list)}:[`)
    isFirst = false
    io.stdout.write(rows.map((row) => `${count++ === 0 ? '' : ','}\n${safeJson(row)}`).join(''))
    last = next
  }
  io.stdout.write(`\n]${last === undefined ? '' : `,"next":${JSON.stringify(last)}`}}\n`)
}

async function printCsv<Row>(io: Io, { fields }: Shape<Row>, pages: AsyncGenerator<Page>): Promise<Page['next']> {
  let last: Page['next']
  let isFirst = true
  // A terminal is not what CSV is for, but it must be safe there too.
  const fit = (value: CsvValue): CsvValue => {
    if (!io.stdout.isTTY || value === null || value === undefined) return value
    return typeof value === 'object' ? safeJson(value) : oneLine(String(value))
  }
  for await (const { rows, next } of pages) {
    if (isFirst) io.stdout.write(formatCsvLine(fields))
    isFirst = false
    const lines = (rows as Record<string, CsvValue>[]).map((row) =>
      formatCsvLine(fields.map((field) => fit(row[field]))),
    )
    io.stdout.write(lines.join(''))
    last = next
  }
  return last
}

async function printTable<Row>(io: Io, shape: Shape<Row>, pages: AsyncGenerator<Page>): Promise<Page['next']> {
  const found: Row[] = []
  let last: Page['next']
  for await (const { rows, next } of pages) {
    for (const row of rows) found.push(row as Row)
    last = next
  }
  if (found.length === 0) io.stderr.write(`${shape.nothing}\n`)
  else if (shape.print) for (const row of found) io.stdout.write(shape.print(row))
  else io.stdout.write(tableOf(io, shape, found))
  return last
}

/** Cut to the width of the terminal; whole where there is none. */
export function tableOf<Row>(io: Io, { columns, cells }: Shape<Row>, rows: readonly Row[]): string {
  const width = io.stdout.isTTY ? io.stdout.columns : undefined
  const look = { paint: createPaint(io), ...(width && { width }) }
  return formatTable(columns, rows.map(cells), look)
}
