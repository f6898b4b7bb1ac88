// `stint exceptions`: the texts that were sent, one by one or by group.
import { CliError, EXIT_USAGE, type Io } from './io.ts'
import { formatLocalTime } from './local-time.ts'
import { manyLines, oneLine } from './one-line.ts'
import { createPaint } from './paint.ts'
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

interface Exception {
  readonly at: string
  readonly process: string
  readonly meta: string | null
  readonly exception: string
  readonly fingerprint: string
}

interface Group {
  readonly fingerprint: string
  readonly process: string
  readonly count: number
  readonly first_at: string
  readonly last_at: string
  readonly example: string
}

interface Options extends QuestionOptions {
  readonly full?: boolean
  readonly groups?: boolean
}

const FILTERS: readonly FilterName[] = ['from', 'to', 'process', 'meta', 'fingerprint', 'limit']

export function register(program: Program, io: Io): void {
  addQuestion(program, 'exceptions', 'the exceptions that were sent, newest first', FILTERS)
    .option(...ALL_FLAG)
    .option('--full', 'the whole texts')
    .option('--groups', 'one row for each group of like ones, with its newest text')
    .action(async (options: Options) => {
      const { full, groups, all } = options
      if (groups && full) throw new CliError('--groups and --full do not go together', EXIT_USAGE)
      if (groups && all) throw new CliError('--groups and --all do not go together: groups have no pages', EXIT_USAGE)
      const parameters = toParameters(options, FILTERS)
      if (groups) return answerQuestion(io, GROUPS, options, parameters)
      return answerQuestion(io, full ? fullTexts(io) : EXCEPTIONS, options, parameters)
    })
}

const NOTHING = 'No exceptions in this range.'

const EXCEPTIONS: Shape<Exception> = {
  path: '/api/exceptions',
  list: 'exceptions',
  fields: ['at', 'process', 'meta', 'exception', 'fingerprint'],
  columns: [
    { title: 'AT' },
    { title: 'PROCESS', cut: true },
    { title: 'META', cut: true },
    { title: 'EXCEPTION', cut: true },
  ],
  cells: ({ at, process, meta, exception }) => [formatLocalTime(at), process, textOr(meta), firstLine(exception)],
  nothing: NOTHING,
}

const GROUPS: Shape<Group> = {
  path: '/api/exceptions/groups',
  list: 'groups',
  fields: ['fingerprint', 'process', 'count', 'first_at', 'last_at', 'example'],
  columns: [
    { title: 'LAST' },
    { title: 'COUNT', align: 'right' },
    { title: 'GROUP' },
    { title: 'PROCESS', cut: true },
    { title: 'NEWEST', cut: true },
  ],
  cells: ({ fingerprint, process, count, last_at, example }) => [
    formatLocalTime(last_at),
    String(count),
    fingerprint,
    process,
    firstLine(example),
  ],
  nothing: NOTHING,
}

/** One after the other, each under a line that tells whose it is; their own lines are indented, so that none can pass for another's. */
function fullTexts(io: Io): Shape<Exception> {
  const paint = createPaint(io)
  return {
    ...EXCEPTIONS,
    print({ at, process, meta, exception, fingerprint }) {
      const name = meta === null ? oneLine(process) : `${oneLine(process)} (${oneLine(meta)})`
      const head = `${formatLocalTime(at)}  ${paint(name, 'bold')}  ${paint(oneLine(fingerprint), 'dim')}`
      return `${head}\n${manyLines(exception).replace(/^/gm, '  ')}\n\n`
    },
  }
}

/** And how many more there are. */
function firstLine(text: string): string {
  const lines = text.trimEnd().split(/\r?\n/)
  const more = lines.length - 1
  return more === 0 ? lines[0]! : `${lines[0]} (+${more} ${more === 1 ? 'line' : 'lines'})`
}
