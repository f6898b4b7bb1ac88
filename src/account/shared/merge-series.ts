// Shares the series in use between the nodes: new ones of this node go to PostgreSQL, those of others come from it.
// Intake never waits for this, so the nodes may together exceed a budget by what each admits within one interval.
import type { Logger } from '../../log.ts'
import { all, run, type Script } from '../../state/database.ts'
import type { Postgres } from '../../state/postgres.ts'
import type { SeriesBudget } from '../series-budget.ts'
import type { Replica, SeriesRow } from './replica.ts'

const EVERY_MS = 5_000
/** Rows of one transaction. Less than a page, so that a page always holds the end of some transaction. */
export const SERIES_AT_ONCE = 500
const PAGE = 5_000

export type MergeSeries = ReturnType<typeof createMergeSeries>

export function createMergeSeries(
  postgres: Pick<Postgres, 'read' | 'write'>,
  replica: Replica,
  budget: SeriesBudget,
  log: Logger,
) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let running: Promise<void> | undefined
  let isStopped = false

  async function send(): Promise<boolean> {
    const rows = replica.seriesToMerge(SERIES_AT_ONCE)
    if (rows.length === 0) return false
    await postgres.write(() => insertSeries(rows))
    replica.seriesMerged(rows)
    return rows.length === SERIES_AT_ONCE
  }

  async function receive(): Promise<boolean> {
    const { series_version } = replica.followed()
    const rows = await postgres.read(() => selectSeries(series_version))
    const last = rows.at(-1)?.changed
    if (last === undefined) return false
    /** A full page may end within a transaction, whose rows then come with the next page. */
    const isFull = rows.length === PAGE
    const whole = isFull ? rows.filter(({ changed }) => changed < last) : rows
    const followed = isFull ? last - 1 : last
    const pairs = whole.map(({ account, series }): SeriesRow => [account, series])
    replica.adoptSeries(pairs, followed)
    for (const pair of pairs) budget.adopt(...pair)
    return isFull
  }

  /** Receives first: what PostgreSQL has need not be sent. */
  const step = async (): Promise<boolean> => (await receive()) || send()

  async function work(): Promise<void> {
    let hasMore = true
    try {
      while (hasMore && !isStopped) hasMore = await step()
    } catch (err) {
      log.debug({ err }, 'accounts: the series in use could not be merged; trying again')
    }
    if (!isStopped) timer = setTimeout(begin, EVERY_MS)
  }

  function begin(): void {
    running = work()
  }

  return {
    /** Sends and reads once; true while there is more. Rejects with Problem `store_unavailable`. */
    step,
    start: begin,
    async stop(): Promise<void> {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}

/** Only of accounts that still exist. */
export const insertSeries = (rows: readonly SeriesRow[]): Script<number> =>
  run(
    `INSERT INTO series (account, series)
     SELECT account.id, (pair ->> 1)::bigint FROM jsonb_array_elements($1::text::jsonb) pair
     JOIN account ON account.id = pair ->> 0
     ON CONFLICT DO NOTHING`,
    JSON.stringify(rows),
  )

const selectSeries = (since: number): Script<{ account: string; series: number; changed: number }[]> =>
  all(
    `SELECT account, series, changed FROM series WHERE changed > $1 ORDER BY changed, account, series LIMIT ${PAGE}`,
    since,
  )
