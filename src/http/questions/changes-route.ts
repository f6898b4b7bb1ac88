// GET /api/changes: whether anything was stored since an earlier answer.
import type { Live } from '../../live/live.ts'
import { parseParameters } from '../../query/question.ts'
import { FIND_CHANGES } from '../../wire/processes.ts'
import type { Mounts } from '../mount.ts'

export function mountChanges({ on }: Mounts, changes: Pick<Live, 'changesOf'>): void {
  on(FIND_CHANGES, ({ account }, { request }) => {
    parseParameters({}, new URL(request.url).searchParams)
    return changes.changesOf(account)
  })
}
