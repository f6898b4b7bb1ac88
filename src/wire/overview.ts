// GET /api/overview: how every process is, in one consistent answer, for Home, `stint status`, badges and Prometheus.
import { type Static, type TUnsafe, Type } from '@sinclair/typebox'
import { AlertSummary } from './alerts.ts'
import { CONDITIONS } from './conditions.ts'
import { ProcessNote } from './process-notes.ts'
import { OVERVIEW_SORTS, PROCESS_STATES } from './process-state.ts'
import { defineRoute, json, REPEATED_QUESTION } from './route.ts'
import { Count, choice, orNull, ProcessName, several, Text, Time, TimeMs } from './shapes.ts'
import { Watch } from './watches.ts'

/** `exceptions`: it completed, and raised an exception. */
const OVERVIEW_RUN_STATES = [
  ...(['completed', 'exceptions', 'failed', 'running'] as const),
  ...(['abandoned', 'orphan'] as const),
] as const
export type OverviewRunState = (typeof OVERVIEW_RUN_STATES)[number]

/**
 * `[at, state, ms, meta, uid]`. `at`: the start, of an end without one that end, RFC 3339 with nine digits; with meta
 * and uid it identifies the run. `ms`: the duration of a run that ended, else null.
 */
export type OverviewRun = readonly [
  at: string,
  state: OverviewRunState,
  ms: number | null,
  meta: string | null,
  uid: string | null,
]

const RUN = ['2026-11-20T21:52:42.171920000Z', 'failed', 20249.2, 'region eu', '3f2a9c1e'] as const
/** OpenAPI 3.0 has no tuples, so the document says what each place holds in words. */
const Run = Type.Array(Type.Union([Type.String(), Type.Number(), Type.Null()]), {
  minItems: 5,
  maxItems: 5,
  description:
    'at, state, ms, meta, uid. `at` is the start (of an end without a start: that end), `state` one of ' +
    `${OVERVIEW_RUN_STATES.join(', ')} (\`exceptions\`: completed, with an exception), \`ms\` the duration of a run ` +
    'that ended, else null.',
  examples: [RUN],
}) as unknown as TUnsafe<OverviewRun>

const Change = Type.Object(
  {
    at: TimeMs,
    before_ms: Type.Number({ minimum: 0, examples: [14100] }),
    after_ms: Type.Number({ minimum: 0, examples: [35500] }),
  },
  { description: 'When its duration changed among the last 60 runs of that meta, and the medians before and after.' },
)

const DayCounts = {
  runs: Type.Integer({ minimum: 0, description: 'Runs that completed or failed.', examples: [192] }),
  failed: Type.Integer({ minimum: 0, examples: [26] }),
  exceptions: Type.Integer({
    minimum: 0,
    description: 'Exceptions whose group is neither resolved nor ignored.',
    examples: [26],
  }),
}
const Day = Type.Object({ ...DayCounts, never_finished: Count })

const Figure = (example: number, description: string) =>
  Type.Union([Type.Number({ minimum: 0 }), Type.Null()], { description, examples: [example] })
const Moment = (example: string | null, description: string) =>
  Type.Union([TimeMs, Type.Null()], { description, examples: [example] })

/** Members of a process as a whole, and in `by_meta` of each of its metas. */
const KNOWN = {
  state: choice(PROCESS_STATES, { description: 'The worst of its metas.', examples: ['failed'] }),
  since: Moment(
    '2026-11-20T21:53:02.421Z',
    'Since when it is in this state: the end of a run that is over, the start of one that runs, of a silent process ' +
      'its last start, of an alert when it began to fire; null without any.',
  ),
  run: Type.Union([Run, Type.Null()], {
    description: 'The run that decides the state, or the newest.',
    examples: [RUN],
  }),
  exception: Type.Union([Type.String(), Type.Null()], {
    description: 'The first line of the exception that belongs to the trouble; null without trouble or exception.',
    examples: ['Error: connection reset'],
  }),
  fingerprint: Type.Union([Type.String(), Type.Null()], {
    description: 'The group of that exception.',
    examples: ['v3:5f0c1e2d3b4a6978'],
  }),
  last_seen_at: Type.Union([Time, Type.Null()], {
    description: 'Its newest event of any kind.',
    examples: ['2026-11-20T21:53:02.421120000Z'],
  }),
  last_start_at: Type.Union([Time, Type.Null()], {
    description: 'Its newest start, or end without one.',
    examples: [RUN[0]],
  }),
  next_start_at: Moment(
    '2026-11-20T22:52:42.171Z',
    'When it starts next by the cron expression of its watch, else by its rhythm: `every` of a watch says nothing ' +
      'about it. Of several metas the first. Null without both.',
  ),
  late_at: Moment(
    '2026-11-20T23:58:42.171Z',
    'When it counts as silent unless a start comes: by its watch, else by its rhythm.',
  ),
  every_s: Figure(3600, 'How often it usually starts: the median gap. Null below 5 gaps or an hour.'),
  usual_ms: Figure(
    14100,
    'How long it usually takes: the median of the completed ones among the last 20 runs of that meta that ended, or ' +
      'before `change` while that is younger than a day; null below five.',
  ),
  usual_of: Type.Union([Count, Type.Null()], { description: 'Of how many runs `usual_ms` is the median.' }),
  change: Type.Union([Change, Type.Null()]),
  runs: Type.Array(Run, { description: 'The newest 30, with `process=` 60; newest first.' }),
  last_24h: Day,
  median_24h_ms: Figure(35500, 'Of completed runs of the last 24 hours.'),
  median_7d_ms: Figure(14100, 'Of completed runs of the 7 days before them.'),
}

const OverviewAlert = Type.Object({
  id: Text('ale_2j6h0p4d8g3k7m1n'),
  watch: Type.Object({ id: Text('wat_4m8s1q0z7c2n5v9x'), name: Text('nightly import') }),
  condition: choice(CONDITIONS),
  meta: orNull(Type.String()),
  since: TimeMs,
  summary: AlertSummary,
  acknowledged_by: orNull(Type.String({ description: 'The address of the session, or the name of the key.' })),
})

const Notified = Type.Object(
  {
    late: Type.Boolean({ description: 'When it does not start.', examples: [true] }),
    failed: Type.Boolean({ description: 'When a run fails.', examples: [true] }),
    channels: Type.Array(Text('ops on Slack'), { description: 'Their names.' }),
  },
  {
    description:
      'Whether a watch covers it with a channel that is confirmed, in use and takes it, so that somebody hears.',
  },
)

const IfLate = Type.Object(
  {
    channels: Type.Array(Text('ops on Slack'), { description: 'Those that are notified.' }),
    held: Type.Boolean({ description: 'A maintenance would hold the notification back.' }),
    held_until: orNull(
      TimeMs,
      undefined,
      'It is sent then if it is still late; null: none is held, or without an end.',
    ),
  },
  { description: 'What happens at `late_at`, or now, unless a start comes.' },
)

export const OverviewRow = Type.Object({
  process: ProcessName,
  metas: Type.Array(orNull(Type.String(), 'region eu'), { description: 'At most 20.' }),
  more_metas: Type.Boolean({ description: 'There are more than 20.' }),
  meta: orNull(Type.String({ description: 'Of the state.' }), 'region eu'),
  ...KNOWN,
  alerts: Type.Array(OverviewAlert, { description: 'Those that fire.' }),
  notified: Notified,
})
export type OverviewRow = Static<typeof OverviewRow>

const OverviewMeta = Type.Object({ meta: orNull(Type.String(), 'region eu'), ...KNOWN })
export type OverviewMeta = Static<typeof OverviewMeta>

/** A watch, and when its `late` expects the next start of this process. */
const CoveringWatch = Type.Object({
  ...Watch.properties,
  due_at: Moment('2026-11-21T02:00:00.000Z', 'When the next start is due; null without `late`.'),
  late_at: Moment('2026-11-21T02:10:00.000Z', 'When it fires unless a start comes.'),
})

/** Only with `process=`. */
const Detail = {
  by_meta: Type.Optional(
    Type.Array(OverviewMeta, { description: 'With `process=`: the same of each meta, at most 100.' }),
  ),
  watches: Type.Optional(Type.Array(CoveringWatch, { description: 'With `process=`: those that cover it.' })),
  if_late: Type.Optional(IfLate),
  ...Type.Partial(ProcessNote).properties,
}

const Counts = Type.Object(
  Object.fromEntries(PROCESS_STATES.map((state) => [state, Count])) as Record<
    (typeof PROCESS_STATES)[number],
    typeof Count
  >,
  { description: 'Processes by their state; of all pages.' },
)

export const Overview = Type.Object({
  at: TimeMs,
  stale_s: orNull(
    Type.Integer({
      minimum: 0,
      description:
        '`at` minus the time up to which every accepted event is in the answer, but for the medians of days; null ' +
        'below 5 s; 0 while a store does not answer, and nothing is known but alerts. Alerts are always current.',
    }),
  ),
  sentence: Text('1 failed, 2 silent, 196 fine.', 'The state of everything; empty without any process.'),
  tone: choice(['bad', 'warn', 'good']),
  counts: Counts,
  unjudged: Type.Integer({ minimum: 0, description: 'Watches that could not be checked.' }),
  failing_channels: Type.Integer({ minimum: 0, description: 'Channels whose last delivery failed.' }),
  last_24h: Type.Object(DayCounts, { description: 'Of all processes, from `counts_since` to `at`.' }),
  counts_since: Type.String({
    ...TimeMs,
    description:
      'Since when `last_24h` counts: 24 full hours and the one that is not over; from the first question on, while ' +
      'what the account sent before is too much to be read.',
  }),
  omitted: Type.Integer({
    minimum: 0,
    description: 'Processes that have no room in memory: those that sent nothing for longest. They are not counted.',
  }),
  found: Type.Integer({ minimum: 0, description: 'Processes that match `q` and `state`, of all pages.' }),
  processes: Type.Array(Type.Object({ ...OverviewRow.properties, ...Detail }), {
    description: 'Trouble first, then the most recent; 100 a page.',
  }),
  next: orNull(Type.String({ description: 'The `cursor` of the next page; null on the last.' })),
})
export type Overview = Static<typeof Overview>
/** A row of the answer; `by_meta` and `watches` only with `process=`. */
export type OverviewProcess = Overview['processes'][number]

export const SHOW_OVERVIEW = defineRoute('GET /api/overview', {
  ...REPEATED_QUESTION,
  summary: 'Show how every process is',
  description:
    'Every process that sent something in the last 39 days: its state, newest runs, when it should start next, and ' +
    'whether somebody is notified. An event is in the answer within a second of its 201, also while the stores are ' +
    'away, if somebody looked before; of other nodes within 5 seconds. The medians of days are read once an hour. ' +
    'Counts and the sentence are of all processes, or of the one that `process` names.',
  parameters: [],
  ownParameters: {
    process: Type.String({ minLength: 1, maxLength: 250, description: 'Only this process, with more of it.' }),
    cursor: Type.String({ minLength: 1, description: 'The `next` of the previous page.' }),
    q: Type.String({
      description: 'Words, each in the name of the process or of one of its metas. Empty: all.',
    }),
    state: several(choice(PROCESS_STATES), PROCESS_STATES.length, 'Only processes in this state, or any of several.'),
    sort: choice(OVERVIEW_SORTS, { description: 'Default `trouble`: the worst first, then the most recent.' }),
  },
  answers: { 200: json('The overview', Overview) },
})
