// GET /api/audit: who did what in the account, for its owners.
import { Elysia } from 'elysia'
import type { AuditEntry, AuditQuestion } from '../../account/audit-log.ts'
import { normalizeEmail } from '../../account/credentials.ts'
import { type Fault, Problem } from '../../problem.ts'
import { PARSERS } from '../../query/parameters.ts'
import * as wire from '../../wire/audit.ts'
import { AUDIT_ACTIONS } from '../../wire/audit-actions.ts'
import { DEFAULT_LIMIT } from '../../wire/parameters.ts'
import { createMount } from '../mount.ts'
import type { PeopleDeps } from './session-answers.ts'

const DAY_MS = 86_400_000
const KEPT_MS = 365 * DAY_MS

export function auditRoutes({ accounts, authorize, nowMs }: PeopleDeps) {
  const app = new Elysia({ normalize: false })
  const on = createMount(app, authorize)
  on(wire.LIST_AUDIT, async ({ account }, { request }) => {
    const question = parseAuditQuestion(new URL(request.url).searchParams, nowMs())
    const found = await accounts.audit.list(account, { ...question, limit: question.limit + 1 })
    const shown = found.slice(0, question.limit)
    return {
      entries: shown.map(answerEntry),
      next: found.length > shown.length ? String(shown.at(-1)!.seq) : null,
    }
  })
  return app
}

const answerEntry = ({ atMs, action, actor, key, target, detail, address }: AuditEntry): wire.AuditEntry => ({
  at: new Date(atMs).toISOString(),
  action,
  actor,
  key,
  target,
  detail,
  address,
})

const CURSOR = /^[1-9]\d{0,15}$/
const PARAMETERS = ['from', 'to', 'action', 'actor', 'limit', 'cursor'] as const
type Name = (typeof PARAMETERS)[number]

/** Throws Problem `question_invalid`. */
function parseAuditQuestion(search: URLSearchParams, nowMs: number): AuditQuestion {
  const errors: Fault[] = []
  const fault = (name: string, detail: string) => void errors.push({ pointer: `/${name}`, detail })
  const given: Partial<Record<Name, string>> = {}
  for (const name of new Set(search.keys())) {
    if (!PARAMETERS.includes(name as Name)) fault(name, `is not a parameter; known are ${PARAMETERS.join(', ')}`)
    else if (search.getAll(name).length > 1) fault(name, 'may be given only once')
    else given[name as Name] = search.get(name)!
  }
  const parse = <T>(name: 'from' | 'to' | 'limit', otherwise: T, convert: (value: never) => T): T => {
    const text = given[name]
    if (text === undefined) return otherwise
    const parsed = PARSERS[name](text, BigInt(nowMs) * 1_000_000n)
    if ('value' in parsed) return convert(parsed.value as never)
    fault(name, parsed.detail)
    return otherwise
  }
  const toMs = (ns: bigint) => Number(ns / 1_000_000n)
  const fromMs = parse('from', nowMs - KEPT_MS, toMs)
  const untilMs = parse('to', nowMs + DAY_MS, toMs)
  const limit = parse('limit', DEFAULT_LIMIT, (value: number) => value)
  const action = AUDIT_ACTIONS.find((it) => it === given.action)
  if (given.action !== undefined && action === undefined) fault('action', 'is not an action of the audit log')
  const actor = given.actor === undefined ? undefined : normalizeEmail(given.actor)
  if (given.actor !== undefined && actor === undefined) fault('actor', 'must be an e-mail address')
  if (given.cursor !== undefined && !CURSOR.test(given.cursor)) fault('cursor', 'is not a cursor of this question')
  if (errors.length > 0)
    throw new Problem('question_invalid', 'The parameters of the question are incorrect.', { errors })
  return {
    fromMs,
    toMs: untilMs,
    limit,
    ...(action !== undefined && { action }),
    ...(actor !== undefined && { actor }),
    ...(given.cursor !== undefined && { before: Number(given.cursor) }),
  }
}
