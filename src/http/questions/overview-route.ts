// GET /api/overview: how every process is.
import type { Changes } from '../../query/changes.ts'
import type { AskOverview } from '../../query/overview/overview.ts'
import { SHOW_OVERVIEW } from '../../wire/overview.ts'
import { compressedJson } from '../compressed.ts'
import type { Mounts } from '../mount.ts'

export function mountOverview({ on }: Mounts, ask: AskOverview, changes: Pick<Changes, 'of'>): void {
  on(SHOW_OVERVIEW, async ({ account }, { request, leaveUntagged }) => {
    const { version } = changes.of(account)
    const search = new URL(request.url).searchParams
    const answer = await ask(account, search)
    if (ask.versionOf(account, search) !== version) leaveUntagged()
    return compressedJson(request, answer, () => {})
  })
}
