// `stint processes`: who has sent anything.
import type { Io } from './io.ts'
import { formatLocalTime } from './local-time.ts'
import type { Program } from './program.ts'
import { type FilterName, toParameters } from './questions/filters.ts'
import { addQuestion, answerQuestion, type QuestionOptions, type Shape } from './questions/question-command.ts'

interface ProcessRow {
  readonly process: string
  readonly metas: readonly (string | null)[]
  readonly last_at: string
  readonly kinds: readonly string[]
}

const FILTERS: readonly FilterName[] = ['from', 'to', 'process', 'meta', 'limit']

export function register(program: Program, io: Io): void {
  addQuestion(program, 'processes', 'who has sent anything, most recent first', FILTERS).action(
    (options: QuestionOptions) => answerQuestion(io, PROCESSES, options, toParameters(options, FILTERS)),
  )
}

const PROCESSES: Shape<ProcessRow> = {
  path: '/api/processes',
  list: 'processes',
  fields: ['process', 'metas', 'last_at', 'kinds'],
  columns: [{ title: 'LAST' }, { title: 'PROCESS', cut: true }, { title: 'KINDS' }, { title: 'METAS', cut: true }],
  cells: ({ process, metas, last_at, kinds }) => [
    formatLocalTime(last_at),
    process,
    kinds.join(' '),
    metas.map((meta) => meta ?? '–').join(', '),
  ],
  nothing: 'No process has sent anything in this range.',
}
