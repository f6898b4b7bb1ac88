// For those who run Stint: alive, ready, figures. No key, and nothing by account.
import { Elysia } from 'elysia'
import type { Problem } from '../problem.ts'
import { problemResponse } from './problem-response.ts'

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export interface OpsDeps {
  /** The figures as Prometheus text, as they are now. */
  renderMetrics(): Promise<string>
  /** Why no event can be taken right now, or undefined. */
  unready(): Problem | undefined
}

export function opsRoutes({ renderMetrics, unready }: OpsDeps) {
  return new Elysia({ normalize: false })
    .get('/livez', () => new Response('ok\n'), {
      detail: { tags: ['operations'], summary: 'Is the process alive', responses: { 200: { description: 'It is' } } },
    })
    .get(
      '/readyz',
      () => {
        const problem = unready()
        return problem === undefined ? new Response('ready\n') : problemResponse(problem)
      },
      {
        detail: {
          tags: ['operations'],
          summary: 'Can the spools take an event',
          responses: { 200: { description: 'They can' }, 503: { description: 'They cannot, and why' } },
        },
      },
    )
    .get('/metrics', async () => new Response(await renderMetrics(), { headers: { 'content-type': METRICS_TYPE } }), {
      detail: {
        tags: ['operations'],
        summary: 'Figures for Prometheus',
        responses: { 200: { description: 'Prometheus text format' } },
      },
    })
}
