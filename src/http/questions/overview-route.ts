// GET /api/overview: how every process is.
import type { AskOverview } from '../../live/overview/overview.ts'
import { SHOW_OVERVIEW } from '../../wire/overview.ts'
import { compressedJson } from '../compressed.ts'
import type { Mounts } from '../mount.ts'

export function mountOverview({ on }: Mounts, ask: AskOverview): void {
  on(SHOW_OVERVIEW, async ({ account }, { request, leaveUntagged }) => {
    const answer = await ask(account, new URL(request.url).searchParams)
    if (answer.stale_s !== null) leaveUntagged()
    return compressedJson(request, answer, () => {})
  })
}
