// For those who run Stint: alive, ready, figures. No key, and nothing by account.
import { Elysia } from 'elysia'
import type { Problem } from '../../problem.ts'
import { LIVEZ, READYZ, SHOW_METRICS } from '../../wire/operations.ts'
import { problemResponse, uncachedHeaders } from '../answers.ts'
import { describeRoute } from '../docs/describe-route.ts'

const METRICS = { headers: uncachedHeaders({ 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }) }
const TEXT = { headers: uncachedHeaders({ 'content-type': 'text/plain;charset=utf-8' }) }

export interface OpsDeps {
  /** The figures as Prometheus text, as they are now. */
  renderMetrics(): Promise<string>
  /** Why no event can be taken right now, or undefined. */
  unready(): Problem | undefined
}

export function opsRoutes({ renderMetrics, unready }: OpsDeps) {
  return new Elysia({ normalize: false })
    .get(LIVEZ.path, () => new Response('ok\n', TEXT), describeRoute(LIVEZ))
    .get(
      READYZ.path,
      () => {
        const problem = unready()
        return problem === undefined ? new Response('ready\n', TEXT) : problemResponse(problem)
      },
      describeRoute(READYZ),
    )
    .get(SHOW_METRICS.path, async () => new Response(await renderMetrics(), METRICS), describeRoute(SHOW_METRICS))
}
