// `stint metrics`: the numbers that were sent, one by one or by interval.
import { CliError, EXIT_USAGE, type Io } from './io.ts'
import { formatLocalTime } from './local-time.ts'
import type { Program } from './program.ts'
import { type FilterName, toParameters } from './questions/filters.ts'
import {
  ALL_FLAG,
  addQuestion,
  answerQuestion,
  type QuestionOptions,
  type Shape,
} from './questions/question-command.ts'
import { textOr } from './questions/timing-shape.ts'

interface Point {
  readonly at: string
  readonly process: string
  readonly meta: string | null
  readonly name: string
  readonly value: number
}

const FIGURES = ['count', 'mean', 'min', 'max', 'sum', 'last'] as const

type Row = Readonly<Record<'at' | 'process' | 'name', string> & Record<(typeof FIGURES)[number], number | null>>

const FILTERS: readonly FilterName[] = ['from', 'to', 'process', 'meta', 'name', 'every', 'limit']

export function register(program: Program, io: Io): void {
  const description = 'the numbers that were sent, newest first; with --every by interval'
  addQuestion(program, 'metrics', description, FILTERS)
    .option(...ALL_FLAG)
    .action(async (options: QuestionOptions) => {
      const { every, all } = options
      const parameters = toParameters(options, FILTERS)
      if (every === undefined) return answerQuestion(io, POINTS, options, parameters)
      if (all) throw new CliError('--every and --all do not go together: intervals have no pages', EXIT_USAGE)
      return answerQuestion(io, ROWS, options, parameters)
    })
}

const NOTHING = 'No metrics in this range.'

const POINTS: Shape<Point> = {
  path: '/api/metrics',
  list: 'points',
  fields: ['at', 'process', 'meta', 'name', 'value'],
  columns: [
    { title: 'AT' },
    { title: 'PROCESS', cut: true },
    { title: 'META', cut: true },
    { title: 'NAME', cut: true },
    { title: 'VALUE', align: 'right' },
  ],
  cells: ({ at, process, meta, name, value }) => [formatLocalTime(at), process, textOr(meta), name, String(value)],
  nothing: NOTHING,
}

const ROWS: Shape<Row> = {
  path: '/api/metrics',
  list: 'rows',
  fields: ['at', 'process', 'name', ...FIGURES],
  columns: [
    { title: 'FROM' },
    { title: 'PROCESS', cut: true },
    { title: 'NAME', cut: true },
    ...FIGURES.map((figure) => ({ title: figure.toUpperCase(), align: 'right' }) as const),
  ],
  cells: (row) => [formatLocalTime(row.at), row.process, row.name, ...FIGURES.map((figure) => shorten(row[figure]))],
  nothing: NOTHING,
}

/** A mean has digits that say nothing. */
const shorten = (value: number | null): string => (value === null ? '–' : String(Number(value.toPrecision(9))))
