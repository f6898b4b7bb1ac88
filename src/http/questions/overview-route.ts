// Answers of live: GET /api/overview, how every process is, and GET /api/changes, whether anything was stored since an
// earlier answer. An overview that is being made is shared by all who ask the same.
import type { Live } from '../../live/live.ts'
import type { AskOverview } from '../../live/overview/overview.ts'
import type { KeptAnswers } from '../../query/kept-answers.ts'
import { parseParameters } from '../../query/question.ts'
import { SHOW_OVERVIEW } from '../../wire/overview.ts'
import { FIND_CHANGES } from '../../wire/processes.ts'
import { answerEncoded, encodeFor } from '../compressed.ts'
import type { Mounts } from '../mount.ts'
import { wordsOf } from './question-routes.ts'

export function mountOverview({ on }: Mounts, ask: AskOverview, kept: KeptAnswers): void {
  on(SHOW_OVERVIEW, async ({ account }, { request, leaveUntagged }) => {
    const wanted = { account, words: wordsOf(request), maxAgeMs: 0, left: request.signal }
    const { answer, noteSent } = await kept.share(wanted, async () => {
      const body = await ask(account, new URL(request.url).searchParams)
      const made = await encodeFor(request, body)
      return { ...made, isStale: body.stale_s !== null, size: made.bytes.length }
    })
    if (answer.isStale) leaveUntagged()
    return answerEncoded(request, answer, noteSent)
  })
}

export function mountChanges({ on }: Mounts, changes: Pick<Live, 'changesOf'>): void {
  on(FIND_CHANGES, ({ account }, { request }) => {
    parseParameters(FIND_CHANGES, new URL(request.url).searchParams)
    return changes.changesOf(account)
  })
}
