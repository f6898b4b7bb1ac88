// The questions of the command line, an entry each: filters, path, the columns of its table and the fields of its CSV.

import { systemClock } from '../clock.ts'
import { headlineOf } from '../wire/headline.ts'
import { formatDuration } from '../wire/span-text.ts'
import { RUN_STATE_TEXT } from '../wire/words.ts'
import {
  ALL_FLAG,
  addQuestion,
  answerQuestion,
  type Field,
  type FilterName,
  type QuestionOptions,
  type Row,
  toParameters,
  type View,
  type ViewColumn,
} from './ask-question.ts'
import { addGroupCommands } from './exception-group.ts'
import { formatLocalTime, formatZonedTime } from './format-time.ts'
import { CliError, EXIT_USAGE, type Io } from './io.ts'
import type { Program } from './program.ts'
import { createPaint, manyLines, oneLine } from './safe-text.ts'
import { addShowCommand } from './show-run.ts'
import {
  count,
  countCell,
  META,
  orNone,
  PROCESS,
  right,
  runningView,
  spare,
  TIMINGS,
  text,
  time,
  UID,
} from './timing-view.ts'

interface Options extends QuestionOptions {
  readonly full?: boolean
  readonly groups?: boolean
}

interface Question {
  readonly name: string
  readonly about: string
  readonly filters: readonly FilterName[]
  /** More flags than those of the filters and output formats. */
  readonly flags?: readonly (readonly [flags: string, description: string])[]
  /** Pairs of flags that exclude each other, with the reason. */
  readonly conflicts?: readonly (readonly [keyof Options, keyof Options, reason: string])[]
  /** Parameters that every call has. */
  readonly fixed?: Readonly<Record<string, string>>
  view(options: Options, io: Io): View
}

/** Limits a mean to the digits that mean something. */
const figure = (title: string, field: string) =>
  right(title, (row) => orNone(row[field], (value: number) => String(Number(value.toPrecision(9)))))
const headline = (title: string, field: string): ViewColumn => ({
  title,
  cut: true,
  cell: (row) => shorten(row[field]),
})

/** A view of the rows' own members, and one of those of `before`. */
const inBefore = ([title, value]: Field): Field => [`before_${title}`, (row) => row.before && value(row.before)]

/** The beginning of a bucket, in the zone whose days the buckets follow. */
const from = (tz: string | undefined): ViewColumn =>
  tz === undefined ? time('FROM', 'at') : { title: `FROM (${tz})`, cell: ({ at }) => formatZonedTime(at, tz) }

function summaryView({ by, every, tz, percentiles, compareFrom }: Options): View {
  const split = [...(by === undefined ? [] : ['meta']), ...(every === undefined ? [] : ['at'])]
  const counts = ['failed', 'running', 'abandoned', 'orphan', 'failure_rate']
  const chosen = (percentiles?.split(',') ?? []).map((text) => String(Number(text)))
  const figures: readonly Field[] = [
    ...['count', 'mean_ms', 'p50_ms', 'p95_ms', 'p99_ms', 'max_ms'].map((name): Field => [name, (row) => row[name]]),
    ...chosen.map((text): Field => [`percentile_${text}_ms`, ({ percentiles }) => percentiles?.[text]]),
    ...counts.map((name): Field => [name, (row) => row[name]]),
  ]
  const shown = percentiles === undefined ? ['50', '95', '99'] : chosen
  const percentile = (row: Row, text: string) =>
    percentiles === undefined ? row[`p${text}_ms`] : row.percentiles?.[text]
  const cells = (of: (row: Row) => Row, title: string): ViewColumn[] => [
    right(`${title}COUNT`, (row) => String(of(row).count)),
    spare(right(`${title}MEAN`, (row) => orNone(of(row).mean_ms, formatDuration))),
    ...shown.map((text) =>
      spare(right(`${title}P${text}`, (row) => orNone(percentile(of(row), text), formatDuration))),
    ),
    right(`${title}MAX`, (row) => orNone(of(row).max_ms, formatDuration)),
    right(`${title}FAILED`, (row) => countCell(of(row).failed, 'red')),
    right(`${title}RATE`, (row) =>
      orNone(of(row).failure_rate, (rate: number) => `${Number((rate * 100).toPrecision(3))} %`),
    ),
  ]
  return {
    path: '/api/timings/summary',
    list: 'rows',
    fields: ['process', ...split, ...figures, ...(compareFrom === undefined ? [] : figures.map(inBefore))],
    columns: [
      ...(every === undefined ? [] : [from(tz)]),
      PROCESS,
      ...(by === undefined ? [] : [META]),
      ...cells((row) => row, ''),
      ...(compareFrom === undefined
        ? (['running', 'abandoned', 'orphan'] as const).map((state) =>
            spare(count(RUN_STATE_TEXT[state].toUpperCase(), state)),
          )
        : cells(({ before }) => before ?? {}, 'BEFORE: ')),
    ],
    empty: 'No timings in this range.',
  }
}

function timingsView({ metric = [] }: Options): View {
  const value = (name: string) => (row: Row) => row.metrics?.[name]
  return {
    ...TIMINGS,
    fields: [...TIMINGS.fields, ...metric.map((name): Field => [`metric_${name}`, value(name)])],
    columns: [
      ...TIMINGS.columns,
      ...metric.map((name) => right(name, (row) => orNone(value(name)(row), (value: number) => String(value)))),
    ],
  }
}

const POINTS: View = {
  path: '/api/metrics',
  list: 'points',
  fields: ['at', 'process', 'meta', 'name', 'value', 'uid'],
  columns: [time('AT', 'at'), PROCESS, META, UID, text('NAME', 'name'), right('VALUE', ({ value }) => String(value))],
  empty: 'No metrics in this range.',
}

const FIGURES = ['count', 'mean', 'min', 'max', 'sum', 'last']

const intervals = (by: string | undefined, tz: string | undefined): View => ({
  ...POINTS,
  list: 'rows',
  fields: ['at', 'process', ...(by === undefined ? [] : ['meta']), 'name', ...FIGURES],
  columns: [
    from(tz),
    PROCESS,
    ...(by === undefined ? [] : [META]),
    text('NAME', 'name'),
    ...FIGURES.map((field) => figure(field.toUpperCase(), field)),
  ],
})

const EXCEPTIONS: View = {
  path: '/api/exceptions',
  list: 'exceptions',
  fields: ['at', 'process', 'meta', 'exception', 'fingerprint'],
  columns: [time('AT', 'at'), PROCESS, META, headline('EXCEPTION', 'exception')],
  empty: 'No exceptions in this range.',
}

function hiddenNote({ hidden: { resolved = 0, ignored = 0 } = {} }: Row): string | undefined {
  const parts = [resolved > 0 && `${resolved} resolved`, ignored > 0 && `${ignored} ignored`].filter(Boolean)
  const noun = resolved + ignored === 1 ? 'group is' : 'groups are'
  return parts.length === 0 ? undefined : `${parts.join(' and ')} ${noun} not shown; --status all shows them.`
}

const GROUPS: View = {
  path: '/api/exceptions/groups',
  list: 'groups',
  fields: ['fingerprint', 'process', 'count', 'first_at', 'last_at', 'example', 'status', 'status_by', 'status_at'],
  columns: [
    time('LAST', 'last_at'),
    right('COUNT', (row) => String(row.count)),
    { title: 'STATUS', cell: ({ status }) => (status === 'regressed' ? { text: status, style: 'red' } : status) },
    { title: 'GROUP', cell: ({ fingerprint }) => fingerprint },
    PROCESS,
    headline('NEWEST', 'example'),
  ],
  empty: 'No exceptions in this range.',
  note: hiddenNote,
}

/**
 * Whole texts, each under a line that names its process; indented, so that no line of a text can pass for such a line.
 */
function fullTexts(io: Io): View {
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

/** The headline and how many more lines there are. */
function shorten(exception: string): string {
  const more = exception.trimEnd().split(/\r?\n/).length - 1
  return `${headlineOf(exception)}${more === 0 ? '' : ` (+${more} ${more === 1 ? 'line' : 'lines'})`}`
}

const PROCESSES: View = {
  path: '/api/processes',
  list: 'processes',
  fields: ['process', 'metas', 'more_metas', 'last_at', 'kinds'],
  columns: [
    time('LAST', 'last_at'),
    PROCESS,
    { title: 'KINDS', cell: ({ kinds }) => kinds.join(' ') },
    {
      title: 'METAS',
      cut: true,
      cell: ({ metas, more_metas }) => {
        const names = metas.map((meta: string | null) => meta ?? '–').join(', ')
        return more_metas ? `${names}, … (--by meta shows all)` : names
      },
    },
  ],
  empty: 'No process has sent events in this range.',
}

const nowMs = () => systemClock.wallUs() / 1000
const RANGE = ['from', 'to', 'process', 'meta'] as const

const QUESTIONS: readonly Question[] = [
  {
    name: 'timings',
    about: 'show runs with their durations and states, newest first',
    filters: [...RANGE, 'uid', 'state', 'sort', 'metric', 'limit'],
    flags: [ALL_FLAG],
    view: timingsView,
  },
  {
    name: 'running',
    about: 'show the runs in progress, the oldest first',
    filters: ['process', 'meta', 'uid', 'limit'],
    flags: [ALL_FLAG],
    fixed: { state: 'running' },
    view: () => runningView(nowMs),
  },
  {
    name: 'summary',
    about: 'show counts and percentiles of runs by process; the durations are those of completed runs',
    filters: [...RANGE, 'uid', 'by', 'every', 'tz', 'percentiles', 'compareFrom', 'compareTo'],
    view: summaryView,
  },
  {
    name: 'metrics',
    about: 'show metrics, newest first; with --every, by interval',
    filters: [...RANGE, 'uid', 'name', 'by', 'every', 'tz', 'limit'],
    flags: [ALL_FLAG],
    conflicts: [['every', 'all', ': intervals have no pages']],
    view: ({ every, by, tz }) => (every === undefined ? POINTS : intervals(by, tz)),
  },
  {
    name: 'exceptions',
    about: 'show exceptions, newest first',
    filters: [...RANGE, 'uid', 'fingerprint', 'text', 'status', 'limit'],
    flags: [
      ALL_FLAG,
      ['--full', 'whole texts'],
      ['--groups', 'one row per group of similar exceptions, with its newest text'],
    ],
    conflicts: [['groups', 'full', '']],
    view: ({ groups, full }, io) => (groups ? GROUPS : full ? fullTexts(io) : EXCEPTIONS),
  },
  {
    name: 'processes',
    about: 'show the processes that have sent events, most recent first',
    filters: [...RANGE, 'by', 'limit'],
    flags: [ALL_FLAG],
    view: () => PROCESSES,
  },
]

export function register(program: Program, io: Io): void {
  for (const question of QUESTIONS) {
    const command = addQuestion(program, question.name, question.about, question.filters)
    for (const flag of question.flags ?? []) command.option(...flag)
    if (question.name === 'exceptions') addGroupCommands(command, io)
    if (question.name === 'timings') addShowCommand(command, io)
    command.action(async (options: Options) => {
      for (const [one, other, reason] of question.conflicts ?? [])
        if (options[one] !== undefined && options[other] !== undefined)
          throw new CliError(`--${one} and --${other} exclude each other${reason}`, EXIT_USAGE)
      const parameters = toParameters(options, question.filters)
      for (const [name, value] of Object.entries(question.fixed ?? {})) parameters.set(name, value)
      return answerQuestion(io, question.view(options, io), options, parameters)
    })
  }
}
