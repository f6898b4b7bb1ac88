// The two answers of /api/metrics: what was sent, or rows by interval.
import type { MetricPoint, MetricRow } from '../../wire/metrics.ts'
import type { Get, Query } from './ask.ts'

type MetricQuery = Query<'api/metrics'>

/** Newest first. Throws ApiError. */
export async function askPoints(get: Get, query: MetricQuery, signal?: AbortSignal): Promise<readonly MetricPoint[]> {
  const answer = await get('api/metrics', query, signal)
  return 'points' in answer ? answer.points : []
}

/** A row per name and interval. Throws ApiError. */
export async function askRows(
  get: Get,
  query: MetricQuery & { readonly every: string },
  signal?: AbortSignal,
): Promise<readonly MetricRow[]> {
  const answer = await get('api/metrics', query, signal)
  return 'rows' in answer ? answer.rows : []
}
