// `stint summary`: counts and percentiles, by process, meta and interval.
import type { Io } from './io.ts'
import { formatLocalTime } from './local-time.ts'
import type { Program } from './program.ts'
import { type FilterName, toParameters } from './questions/filters.ts'
import { addQuestion, answerQuestion, type QuestionOptions, type Shape } from './questions/question-command.ts'
import { durationOr, textOr } from './questions/timing-shape.ts'
import type { Cell } from './text-table.ts'

interface SummaryRow {
  readonly process: string
  readonly meta?: string | null
  readonly at?: string
  readonly count: number
  readonly mean_ms: number | null
  readonly p50_ms: number | null
  readonly p95_ms: number | null
  readonly p99_ms: number | null
  readonly max_ms: number | null
  readonly running: number
  readonly abandoned: number
  readonly orphan: number
}

const FILTERS: readonly FilterName[] = ['from', 'to', 'process', 'meta', 'uid', 'by', 'every']
const COUNTS = ['running', 'abandoned', 'orphan'] as const
const FIGURES = ['mean_ms', 'p50_ms', 'p95_ms', 'p99_ms', 'max_ms'] as const

export function register(program: Program, io: Io): void {
  const description = 'counts and percentiles of runs, by process; the figures are of completed ones'
  addQuestion(program, 'summary', description, FILTERS).action((options: QuestionOptions) =>
    answerQuestion(io, shapeOf(options), options, toParameters(options, FILTERS)),
  )
}

function shapeOf({ by, every }: QuestionOptions): Shape<SummaryRow> {
  const [hasMeta, hasAt] = [by !== undefined, every !== undefined]
  const right = (title: string) => ({ title, align: 'right' }) as const
  return {
    path: '/api/timings/summary',
    list: 'rows',
    fields: ['process', ...(hasMeta ? ['meta'] : []), ...(hasAt ? ['at'] : []), 'count', ...FIGURES, ...COUNTS],
    columns: [
      ...(hasAt ? [{ title: 'FROM' }] : []),
      { title: 'PROCESS', cut: true },
      ...(hasMeta ? [{ title: 'META', cut: true }] : []),
      right('COUNT'),
      ...['MEAN', 'P50', 'P95', 'P99', 'MAX', 'RUNNING', 'ABANDONED', 'ORPHAN'].map(right),
    ],
    cells: (row) => [
      ...(hasAt ? [formatLocalTime(row.at!)] : []),
      row.process,
      ...(hasMeta ? [textOr(row.meta ?? null)] : []),
      String(row.count),
      ...FIGURES.map((figure) => durationOr(row[figure])),
      ...COUNTS.map((count) => countCell(row[count])),
    ],
    nothing: 'No timings in this range.',
  }
}

const countCell = (count: number): Cell => (count === 0 ? { text: '0', style: 'dim' } : String(count))
