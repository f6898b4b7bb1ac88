// What the page of a process knows: the row of the overview first, and the rest after a second round of questions.
import type { Channel } from '../../wire/channels.ts'
import type { ExceptionGroups } from '../../wire/exceptions.ts'
import type { MetricRow } from '../../wire/metrics.ts'
import type { OverviewProcess } from '../../wire/overview.ts'
import type { SummaryRow, TimingPage } from '../../wire/timings.ts'
import type { Range } from './range.ts'

export interface ProcessAnswer {
  /** Undefined: nothing is known of a process with this name. */
  readonly row: OverviewProcess | undefined
  readonly rest: Rest | undefined
}

export interface Rest {
  readonly range: Range
  readonly fromMs: number
  readonly toMs: number
  readonly series: readonly SummaryRow[]
  /** Of the last 7 days, in one row or several. */
  readonly week: readonly SummaryRow[]
  readonly days: readonly SummaryRow[]
  readonly metrics: readonly MetricRow[]
  readonly groups: ExceptionGroups['groups']
  readonly channels: readonly Channel[]
  readonly timings: TimingPage['timings']
}
