// Ping addresses as Healthchecks has them (https://healthchecks.io/docs/http_api/): for cron lines and programs that know no other way.
import { DURABLE_PROBLEMS } from './problem.ts'
import { defineRoute } from './route.ts'

const DESCRIPTION =
  'TOKEN is the secret of a key whose only scope is `ping`. Without more, or with the exit code 0: the run has ended; `/start`: it has begun; `/fail` or ' +
  'another exit code: it has failed, with the body as exception; `/log`: accepted and not kept. `rid` tells overlapping runs apart.'

const describe = <const M extends 'GET' | 'POST'>(method: M) =>
  defineRoute({
    method,
    path: '/ping/*',
    tag: 'events',
    access: 'anyone',
    summary: '/ping/TOKEN/PROCESS[/start|/fail|/log|/EXIT_CODE][?rid=UUID]',
    description: DESCRIPTION,
    answers: { 200: { description: 'On disk', body: 'OK' } },
    problems: ['not_found', 'body_too_large', 'fields_invalid', 'series_budget_spent', ...DURABLE_PROBLEMS],
  })

export const PING_BY_GET = describe('GET')
export const PING_BY_POST = describe('POST')
