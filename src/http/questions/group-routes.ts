// PATCH /api/exceptions/groups/:fingerprint: resolve, ignore or reopen a group of exceptions.
import { checkProcess, stripText } from '../../event/fields.ts'
import { Problem } from '../../problem.ts'
import type { ChangeGroup } from '../../query/exception-groups.ts'
import type { KeptAnswers } from '../../query/kept-answers.ts'
import { PARSERS } from '../../query/parameters.ts'
import { CHANGE_GROUP } from '../../wire/exceptions.ts'
import type { NameOf } from '../authorize.ts'
import type { Mounts } from '../mount.ts'

const RULES = { process: (process: string) => checkProcess(process)[0] }

export function mountGroups(
  { on }: Mounts,
  changeGroup: ChangeGroup,
  nameOf: NameOf,
  kept: Pick<KeptAnswers, 'forget'>,
): void {
  on(CHANGE_GROUP, RULES, async (asker, { params, body: { status, process }, noted }) => {
    if ('detail' in PARSERS.fingerprint(params.fingerprint))
      throw new Problem('not_found', 'This is not a fingerprint.')
    const key = { fingerprint: params.fingerprint, ...(process !== undefined && { process: stripText(process) }) }
    const changed = await changeGroup(asker.account, await nameOf(asker), key, status)
    kept.forget(asker.account)
    noted.target = params.fingerprint
    noted.detail = `${status}: ${changed.map((group) => group.process).join(', ')}`
    return { groups: changed }
  })
}
