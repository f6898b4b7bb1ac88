// For those who run Stint: alive, ready, figures. No key, and nothing by account.
import { Elysia } from 'elysia'
import type { Problem } from '../../problem.ts'
import { uncachedHeaders } from '../answer-headers.ts'
import { problemAnswers, textAnswer } from '../docs/describe-answers.ts'
import { problemResponse } from '../problem-response.ts'

const METRICS = { headers: uncachedHeaders({ 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }) }
const TEXT = { headers: uncachedHeaders({ 'content-type': 'text/plain;charset=utf-8' }) }

const OPERATIONS = { tags: ['operations'], security: [] }

export interface OpsDeps {
  /** The figures as Prometheus text, as they are now. */
  renderMetrics(): Promise<string>
  /** Why no event can be taken right now, or undefined. */
  unready(): Problem | undefined
}

export function opsRoutes({ renderMetrics, unready }: OpsDeps) {
  return new Elysia({ normalize: false })
    .get('/livez', () => new Response('ok\n', TEXT), {
      detail: { ...OPERATIONS, summary: 'Is the process alive', responses: { 200: textAnswer('It is', 'ok\n') } },
    })
    .get(
      '/readyz',
      () => {
        const problem = unready()
        return problem === undefined ? new Response('ready\n', TEXT) : problemResponse(problem)
      },
      {
        detail: {
          ...OPERATIONS,
          summary: 'Can the spools take an event',
          responses: {
            200: textAnswer('They can', 'ready\n'),
            ...problemAnswers('spool_full', 'disk_low', 'stopping', 'internal'),
          },
        },
      },
    )
    .get('/metrics', async () => new Response(await renderMetrics(), METRICS), {
      detail: {
        ...OPERATIONS,
        summary: 'Figures for Prometheus',
        responses: {
          200: textAnswer('Prometheus text format', 'stint_events_accepted_total{kind="start"} 12\n'),
          ...problemAnswers('internal'),
        },
      },
    })
}
