// ETags of answers about an account: a caller that sends one back as `If-None-Match` gets 304 without a store being asked.
// A tag is what the account was like when the answer was begun. Invariants:
// * A change that an answer may show moves the state no later than it is visible to everybody.
// * Ranges and states move with now, so a tag holds for half a minute at most.
// * Another person, key or role has other tags, and so has each start of the process.
import type { Changes } from '../../query/changes.ts'
import { knowsTag, uncachedHeaders } from '../answers.ts'
import type { Asker } from '../authorize.ts'

const HALF_MINUTE_MS = 30_000

export interface AnswerTagsDeps {
  /** Differs at each start of the process. */
  readonly start: string
  readonly changes: Pick<Changes, 'of'>
  /** How many changes watches, alerts, channels and maintenances have seen. */
  watchChanges(): number
  nowMs(): number
}

export interface AnswerTags {
  /** Take it before the answer is made. undefined: other nodes change the account as well, so no answer has a tag. */
  stateOf(account: string): string | undefined
  /** The tag of an answer that was begun in this state. */
  tagOf(asker: Asker, state: string): string
  /** 304 for a caller that has the answer already. */
  answerKnown(request: Request, asker: Asker): Response | undefined
  /** 304, or what is made, with its tag. */
  answer(request: Request, asker: Asker, make: MakeAnswer): Promise<Response>
}

/** Calls `leaveUntagged` if the answer shows less than the account is, so that it must be asked again. */
export type MakeAnswer = (leaveUntagged: () => void) => Promise<Response>

export function createAnswerTags({ start, changes, watchChanges, nowMs }: AnswerTagsDeps): AnswerTags {
  const tags: AnswerTags = {
    stateOf(account) {
      const { version, whole } = changes.of(account)
      return whole ? `${version} ${watchChanges()} ${Math.floor(nowMs() / HALF_MINUTE_MS)}` : undefined
    },
    tagOf({ account, role, isOperator, key, session }, state) {
      const who = [account, role, isOperator, key?.keyId, session?.person]
      return `W/"${Bun.SHA256.hash(JSON.stringify([start, state, who]), 'base64url').slice(0, 22)}"`
    },
    answerKnown(request, asker) {
      const state = request.headers.has('if-none-match') ? tags.stateOf(asker.account) : undefined
      if (state === undefined) return undefined
      const tag = tags.tagOf(asker, state)
      if (!knowsTag(request, tag)) return undefined
      return new Response(null, { status: 304, headers: uncachedHeaders({ etag: tag }) })
    },
    async answer(request, asker, make) {
      const known = tags.answerKnown(request, asker)
      if (known !== undefined) return known
      let state = tags.stateOf(asker.account) // before the answer, which may know more
      const response = await make(() => {
        state = undefined
      })
      if (state !== undefined && response.ok) response.headers.set('etag', tags.tagOf(asker, state))
      return response
    },
  }
  return tags
}
