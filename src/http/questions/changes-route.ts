// GET /api/changes: whether anything was stored since an earlier answer.
import type { Changes } from '../../query/changes.ts'
import { parseParameters } from '../../query/question.ts'
import { FIND_CHANGES } from '../../wire/processes.ts'
import type { Mounts } from '../mount.ts'

export function mountChanges({ on }: Mounts, changes: Changes): void {
  on(FIND_CHANGES, ({ account }, { request }) => {
    parseParameters({}, new URL(request.url).searchParams)
    const { version, late, whole } = changes.of(account)
    return { version, late, whole }
  })
}
