// For those who run Stint: alive, ready, figures. No key, and nothing by account.
import { Elysia } from 'elysia'
import type { Registry } from 'prom-client'
import type { Problem } from '../problem.ts'
import { problemResponse } from './problem-response.ts'

export interface OpsDeps {
  readonly registry: Registry
  /** Why no event can be taken right now, or undefined. */
  unready(): Problem | undefined
}

export function opsRoutes({ registry, unready }: OpsDeps) {
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
    .get(
      '/metrics',
      async () => new Response(await registry.metrics(), { headers: { 'content-type': registry.contentType } }),
      {
        detail: {
          tags: ['operations'],
          summary: 'Figures for Prometheus',
          responses: { 200: { description: 'Prometheus text format' } },
        },
      },
    )
}
