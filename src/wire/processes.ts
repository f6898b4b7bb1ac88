// The processes that sent anything, and how many series they use.
import { type Static, Type } from '@sinclair/typebox'
import { FAMILIES, ONE_OF } from '../event/event.ts'
import { defineRoute, json, LOCAL_QUESTION, REPEATED_QUESTION } from './route.ts'
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
