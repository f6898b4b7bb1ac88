// Asks one question and prints the answer: a table for people, JSON or CSV for programs.

import { type CsvValue, formatCsvLine } from '../wire/csv.ts'
import { type Api, askPages, createApi, type Page } from './api.ts'
import { type Cell, type Column, formatTable, type Look } from './format-rows.ts'
import { parseLocalTime } from './format-time.ts'
import { CliError, EXIT_USAGE, type Io } from './io.ts'
import { type Program, strictly } from './program.ts'
import { createPaint, oneLine, safeJson } from './safe-text.ts'

const FILTERS = {
  from: [
    '--from <time>',
    'start of the range: a local time ("2026-11-20 21:00"), RFC 3339, or an age (-90m; units s m h d w); default -1h',
  ],
  to: ['--to <time>', 'end of the range; default now'],
  process: ['--process <name>', 'only this process; may be repeated, up to 100 times'],
  meta: ['--meta <text>', 'only this meta; "" for events without one'],
  uid: ['--uid <id>', 'only this uid; "" for events without one'],
  state: [
    '--state <state>',
    'only completed, failed, running, abandoned (never finished) or orphan; trouble: all that went wrong',
  ],
  name: ['--name <name>', 'only this metric'],
  text: ['--text <words>', 'only exceptions whose text contains each of these words, in any case'],
  status: [
    '--status <status>',
    'with --groups: only unresolved (the default), regressed, resolved or ignored groups, or all',
  ],
  fingerprint: ['--fingerprint <group>', 'only exceptions of this group, as --groups shows it'],
  sort: ['--sort <order>', 'the longest runs first: --sort duration'],
  metric: ['--metric <name>', 'a column with the value of this metric that each run sent; may be repeated'],
  by: ['--by <field>', 'one row per meta: --by meta'],
  percentiles: ['--percentiles <list>', 'percentiles of the durations, such as 50,90,99.9; default 50,95,99'],
  compareFrom: ['--compare-from <time>', 'also the figures of a second range that starts then, such as -8d'],
  compareTo: ['--compare-to <time>', 'end of the second range; default: the start of the first'],
  every: ['--every <span>', 'one row per 10s, 5m, 1h, 1d, 1w, 1mo, …'],
  tz: ['--tz <zone>', 'with --every: days, weeks and months of this time zone, such as Europe/Berlin; default UTC'],
  limit: ['--limit <n>', 'at most this many rows, up to 1000; default 100'],
} as const satisfies Record<string, readonly [flags: string, description: string]>

export type FilterName = keyof typeof FILTERS

export interface OutputOptions {
  readonly json?: boolean
  readonly csv?: boolean
}

type Repeated = 'process' | 'metric'
const TIMES: readonly FilterName[] = ['from', 'to', 'compareFrom', 'compareTo']
const isRepeated = (filter: FilterName): filter is Repeated => filter === 'process' || filter === 'metric'

export interface QuestionOptions
  extends OutputOptions,
    Readonly<Partial<Record<Exclude<FilterName, Repeated>, string>>>,
    Readonly<Partial<Record<Repeated, string[]>>> {
  readonly all?: boolean
}

/** One form of an answer: where to ask, and how to show a row. */
export interface View {
  readonly path: string
  /** Member of the answer that holds the rows. */
  readonly list: string
  /** CSV columns, in order: a member of the row, or a title and its value. */
  readonly fields: readonly (string | Field)[]
  readonly columns: readonly ViewColumn[]
  /** The API lists the newest first. */
  readonly isOldestFirst?: boolean
  /** Prints a row instead of the table. */
  readonly print?: (row: Row) => string
  readonly empty: string
  /** Notes for people beside the rows of the first page. */
  note?(answer: Row): string | undefined
}

export type Field = readonly [title: string, value: (row: Row) => CsvValue]

export interface ViewColumn extends Column {
  cell(row: Row): Cell
}

/** A row as the API sends it; src/wire declares its members. */
// biome-ignore lint/suspicious/noExplicitAny: each column reads its own member
export type Row = Readonly<Record<string, any>>

const JSON_FLAG = ['--json', 'print the answer as JSON, one row per line'] as const
export const ALL_FLAG = ['--all', 'all rows, page by page'] as const
export const CSV_FLAG = ['--csv', 'print CSV with a heading (RFC 4180)'] as const
const PAGE_MAX = '1000'

/** A command with flags for its filters and output formats. */
export function addQuestion(program: Program, name: string, about: string, filters: readonly FilterName[]): Program {
  const command = program.command(name).description(about)
  for (const filter of filters) {
    const [flags, description] = FILTERS[filter]
    if (isRepeated(filter)) command.option(flags, description, (text, all: string[] = []) => [...all, text])
    else command.option(flags, description, TIMES.includes(filter) ? parseTime : (text: string) => text)
  }
  return command.option(...JSON_FLAG).option(...CSV_FLAG)
}

const parseTime = strictly(
  parseLocalTime,
  'Expected an existing local time ("2026-11-20 21:00"), RFC 3339 or an age (-90m).',
)

/** The given filters as a query string's parameters; the server checks them. */
export function toParameters(given: QuestionOptions, filters: readonly FilterName[]): URLSearchParams {
  const nameOf = (filter: string) => filter.replace(/[A-Z]/, (capital) => `_${capital.toLowerCase()}`)
  return new URLSearchParams(
    filters.flatMap((name) => [given[name] ?? []].flat().map((text): [string, string] => [nameOf(name), text])),
  )
}

/** Throws CliError. */
export async function answerQuestion(
  io: Io,
  view: View,
  options: QuestionOptions,
  parameters: URLSearchParams,
): Promise<void> {
  checkFormat(options)
  const isAll = options.all === true || view.isOldestFirst === true
  const limit = options.all === true ? Number.POSITIVE_INFINITY : Number(options.limit ?? DEFAULT_ROWS)
  if (view.isOldestFirst || (isAll && options.limit === undefined)) parameters.set('limit', PAGE_MAX)
  const found = askPages(createApi(io), view.path, view.list, parameters, isAll)
  const pages = view.isOldestFirst ? oldestFirst(found, limit) : found
  if (options.json) return printJson(io, view.list, pages)
  const next = options.csv ? await printCsv(io, view, pages) : await printTable(io, view, pages)
  if (typeof next === 'string') io.stderr.write('There are more rows; --all prints all of them.\n')
}

const DEFAULT_ROWS = 100

/** The last rows of all pages, as one page. */
async function* oldestFirst(pages: AsyncGenerator<Page>, limit: number): AsyncGenerator<Page> {
  const rows: Page['rows'][number][] = []
  for await (const page of pages) rows.push(...page.rows)
  yield { rows: rows.toReversed().slice(0, limit), next: null, answer: {} }
}

export function checkFormat({ json, csv }: OutputOptions): void {
  if (json && csv) throw new CliError('--json and --csv exclude each other', EXIT_USAGE)
}

/** Every row of a question, page by page. */
export async function* eachRow(
  api: Api,
  path: string,
  list: string,
  parameters = new URLSearchParams(),
): AsyncGenerator<Row> {
  const query = new URLSearchParams(parameters)
  query.set('limit', PAGE_MAX)
  for await (const { rows } of askPages(api, path, list, query, true)) yield* rows as Row[]
}

/** One document, written page by page, so that any number of rows fits into memory. */
async function printJson(io: Io, list: string, pages: AsyncGenerator<Page>): Promise<void> {
  let count = 0
  let next: Page['next']
  let others: Page['answer'] | undefined // of the first page
  for await (const page of pages) {
    if (others === undefined) io.stdout.write(`{${JSON.stringify(list)}:[`)
    others ??= Object.fromEntries(Object.entries(page.answer).filter(([name]) => name !== list && name !== 'next'))
    io.stdout.write(page.rows.map((row) => `${count++ === 0 ? '' : ','}\n${safeJson(row)}`).join(''))
    next = page.next
  }
  io.stdout.write(`\n]${next === undefined ? '' : `,"next":${JSON.stringify(next)}`}`)
  for (const [name, value] of Object.entries(others ?? {}))
    io.stdout.write(`,${JSON.stringify(name)}:${safeJson(value)}`)
  io.stdout.write('}\n')
}

async function printCsv(io: Io, { fields }: View, pages: AsyncGenerator<Page>): Promise<Page['next']> {
  // CSV is for programs, but a terminal must be safe from it too.
  const fit = (value: CsvValue): CsvValue => {
    if (!io.stdout.isTTY || value === null || value === undefined) return value
    return typeof value === 'object' ? safeJson(value) : oneLine(String(value))
  }
  let next: Page['next']
  for await (const { rows, next: cursor } of pages) {
    const cellOf = (row: Row, field: string | Field) => (typeof field === 'string' ? row[field] : field[1](row))
    if (next === undefined)
      io.stdout.write(formatCsvLine(fields.map((field) => fit(typeof field === 'string' ? field : field[0]))))
    const lines = (rows as Row[]).map((row) => formatCsvLine(fields.map((field) => fit(cellOf(row, field)))))
    io.stdout.write(lines.join(''))
    next = cursor
  }
  return next
}

async function printTable(io: Io, view: View, pages: AsyncGenerator<Page>): Promise<Page['next']> {
  const found: Row[] = []
  let next: Page['next']
  let note: string | undefined
  for await (const page of pages) {
    note ??= view.note?.(page.answer)
    found.push(...(page.rows as Row[]))
    next = page.next
  }
  if (found.length === 0) io.stderr.write(`${view.empty}\n`)
  else if (view.print) for (const row of found) io.stdout.write(view.print(row))
  else io.stdout.write(tableOf(io, view, found))
  if (note !== undefined) io.stderr.write(`${note}\n`)
  return next
}

/** Cut to the width of the terminal; uncut without a terminal. */
export function lookOf(io: Io): Look {
  const width = io.stdout.isTTY ? io.stdout.columns : undefined
  return { paint: createPaint(io), ...(width && { width }) }
}

export function tableOf(io: Io, { columns }: View, rows: readonly Row[]): string {
  const cells = rows.map((row) => columns.map(({ cell }) => cell(row)))
  return formatTable(columns, cells, lookOf(io))
}
