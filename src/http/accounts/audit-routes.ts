// GET /api/audit: who did what in the account, for its owners.
import type { AuditQuestion } from '../../account/audit-log.ts'
import { normalizeEmail } from '../../account/credentials.ts'
import type { Parsed } from '../../query/parameters.ts'
import { parseParameters } from '../../query/question.ts'
import * as wire from '../../wire/audit.ts'
import { DEFAULT_LIMIT } from '../../wire/parameters.ts'
import type { Mounts } from '../mount.ts'
import type { PeopleDeps } from './session-answers.ts'

const DAY_MS = 86_400_000
const KEPT_MS = 365 * DAY_MS
const NS_PER_MS = 1_000_000n

export function mountAudit({ on }: Mounts, { accounts, nowMs }: PeopleDeps): void {
  on(wire.LIST_AUDIT, async ({ account }, { request }) => {
    const question = parseAuditQuestion(new URL(request.url).searchParams, nowMs())
    const found = await accounts.audit.list(account, { ...question, limit: question.limit + 1 })
    const shown = found.slice(0, question.limit)
    return {
      entries: shown.map(({ seq: _, ...entry }) => entry),
      next: found.length > shown.length ? String(shown.at(-1)!.seq) : null,
    }
  })
}

const PARSERS = {
  actor: (text: string): Parsed<string> => {
    const value = normalizeEmail(text)
    return value === undefined ? { detail: 'must be an e-mail address' } : { value }
  },
  cursor: (text: string): Parsed<number> =>
    /^[1-9]\d{0,15}$/.test(text) ? { value: Number(text) } : { detail: 'is not a cursor of this question' },
}

/** Throws Problem `question_invalid`. */
function parseAuditQuestion(search: URLSearchParams, nowMs: number): AuditQuestion {
  const given = parseParameters(wire.LIST_AUDIT, search, PARSERS, BigInt(nowMs) * NS_PER_MS)
  const { from, to, action, actor, limit = DEFAULT_LIMIT, cursor } = given
  return {
    fromMs: from === undefined ? nowMs - KEPT_MS : Number(from / NS_PER_MS),
    toMs: to === undefined ? nowMs + DAY_MS : Number(to / NS_PER_MS),
    limit,
    ...(action !== undefined && { action }),
    ...(actor !== undefined && { actor }),
    ...(cursor !== undefined && { before: cursor }),
  }
}
