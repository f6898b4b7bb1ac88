// The processes that sent anything, how many series they use, the same for Prometheus, and whether anything came since.
import { type Static, Type } from '@sinclair/typebox'
import { FAMILIES, ONE_OF } from '../event/event.ts'
import { defineRoute, json, LOCAL_QUESTION, QUESTION, REPEATED_QUESTION } from './route.ts'
import { Count, choice, LIST_PAGES, orNull, ProcessName, pageOf, Time } from './shapes.ts'

export const PROCESS_KINDS = FAMILIES.map((family) => ONE_OF[family])

export const ProcessEntry = Type.Object({
  process: ProcessName,
  metas: Type.Array(orNull(Type.String()), {
    description: 'Sorted, at most 100; null means events without a meta. With `by=meta` exactly one.',
    examples: [[null, 'region eu']],
  }),
  more_metas: Type.Boolean({ description: 'The process has more metas than these; `by=meta` lists all of them.' }),
  last_at: Time,
  kinds: Type.Array(choice(PROCESS_KINDS)),
})
export type ProcessEntry = Static<typeof ProcessEntry>

export const Processes = pageOf('processes', ProcessEntry)

export const FIND_PROCESSES = defineRoute('GET /api/processes', {
  ...REPEATED_QUESTION,
  summary: 'List processes that sent anything',
  description: `Most recent first. With \`by=meta\` one entry per process and meta. ${LIST_PAGES}`,
  parameters: ['from', 'to', 'process', 'meta', 'by', 'limit', 'cursor'],
  answers: { 200: json('The processes', Processes) },
})

export const SeriesUse = Type.Object({
  used: Count,
  max: Type.Integer({ minimum: 0, description: '0: no limit.' }),
  warning: Type.Boolean({ description: '80 % or more are used.' }),
})
export type SeriesUse = Static<typeof SeriesUse>

export const COUNT_SERIES = defineRoute('GET /api/series', {
  ...LOCAL_QUESTION,
  summary: 'Show the series limit and how much of it is used',
  description:
    'A series is a distinct (process, meta, metric name). Beyond the limit, events that would create a new ' +
    'series are refused.',
  parameters: [],
  answers: { 200: json('The series', SeriesUse, { used: 42, max: 10000, warning: false }) },
})

export const SHOW_PROMETHEUS = defineRoute('GET /api/prometheus', {
  ...QUESTION,
  summary: "Show the account's processes to Prometheus",
  description:
    'Prometheus text format: per process and meta the newest start, success, failure and duration, what runs now, ' +
    'the runs and exceptions of the last 24 hours; the newest value of each metric; the state of each process; the ' +
    'alerts that fire. Runs and metrics of the last 31 days are shown; runs, counts, states and alerts as in the ' +
    'overview, also while the stores do not answer: then metrics are absent. At most 10,000 series; ' +
    '`stint_series_omitted` counts the others. An answer is used again for five seconds.',
  parameters: [],
  answers: {
    200: {
      description: 'Prometheus text format',
      body: 'stint_run_last_success_timestamp_seconds{process="nightly import"} 1763675562.17192\n',
    },
  },
})

export const ChangesAnswer = Type.Object({
  version: Type.String({ description: 'Differs once an event of the account was stored.' }),
  late: Type.String({ description: 'Differs once an event older than a minute was stored.' }),
  whole: Type.Boolean({ description: 'false: other nodes store events as well, which this node does not count.' }),
})
export type ChangesAnswer = Static<typeof ChangesAnswer>

export const FIND_CHANGES = defineRoute('GET /api/changes', {
  ...LOCAL_QUESTION,
  summary: 'Find out whether anything was stored',
  description: 'Costs no store anything: ask it often, and the other questions only when the version differs.',
  parameters: [],
  answers: {
    200: json('The version', ChangesAnswer, { version: 'mhz1c3k2a0.42', late: 'mhz1c3k2a0.0', whole: true }),
  },
})
