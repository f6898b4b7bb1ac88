// ETags of answers about an account: a caller that sends one back as `If-None-Match` gets 304, and no store is asked.
// A tag is what the account was like when the answer was begun. Invariants:
// * A change that an answer may show moves the state no later than it is visible to everybody.
// * Ranges move with now, so a tag holds for as long as theirs may be old: half a minute for an hour, ten at most.
// * Another person, key or role has other tags, and so has each start of the process.
import { parseAgo } from '../../process/span.ts'
import { knowsTag, uncachedHeaders } from '../answers.ts'
import type { Asker } from '../authorize.ts'

const LEAST_MS = 30_000
const MOST_MS = 600_000
/** A range that ends now may be old by this part of it. */
const PART = 300

export interface AnswerTagsDeps {
  /** Differs at each start of the process. */
  readonly start: string
  /** Version of the data asked for; undefined: not known yet, or other nodes change the account as well. */
  versionOf(account: string, url: URL): string | undefined
  /** How many changes watches, alerts, channels and maintenances have seen. */
  watchChanges(): number
  nowMs(): number
}

/** Calls `leaveUntagged` if the answer shows less than the account is, so that it must be asked again. */
export type MakeAnswer = (leaveUntagged: () => void) => Promise<Response>

export type AnswerTags = ReturnType<typeof createAnswerTags>

export function createAnswerTags({ start, versionOf, watchChanges, nowMs }: AnswerTagsDeps) {
  const tags = {
    /** Take it before the answer is made. undefined: no answer has a tag. */
    stateOf(account: string, url: URL): string | undefined {
      const version = versionOf(account, url)
      return version && `${version} ${watchChanges()} ${Math.floor(nowMs() / keptMs(url.searchParams))}`
    },
    /** The tag of an answer that was begun in this state. */
    tagOf({ account, role, isOperator, key, session }: Asker, state: string): string {
      const who = [account, role, isOperator, key?.keyId, session?.person]
      return `W/"${Bun.SHA256.hash(JSON.stringify([start, state, who]), 'base64url').slice(0, 22)}"`
    },
    /** 304 for a caller that has the answer already. */
    answerKnown(request: Request, asker: Asker): Response | undefined {
      const isAsked = request.headers.has('if-none-match')
      const state = isAsked ? tags.stateOf(asker.account, new URL(request.url)) : undefined
      if (state === undefined) return undefined
      const tag = tags.tagOf(asker, state)
      if (!knowsTag(request, tag)) return undefined
      return new Response(null, { status: 304, headers: uncachedHeaders({ etag: tag }) })
    },
    /** 304, or what is made, with its tag. */
    async answer(request: Request, asker: Asker, make: MakeAnswer): Promise<Response> {
      const known = tags.answerKnown(request, asker)
      if (known !== undefined) return known
      // before the answer, which may know more
      let state: string | undefined = tags.stateOf(asker.account, new URL(request.url))
      const response = await make(() => {
        state = undefined
      })
      if (state !== undefined && response.ok) response.headers.set('etag', tags.tagOf(asker, state))
      return response
    },
  }
  return tags
}

/** How old the range of an answer may be. */
function keptMs(search: URLSearchParams): number {
  const rangeMs = Number(parseAgo(search.get('from') ?? '', 0n) ?? 0n) / -1e6
  return Math.min(MOST_MS, Math.max(LEAST_MS, rangeMs / PART))
}
