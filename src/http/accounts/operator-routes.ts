// The accounts of all, for owners of the operator's account: listed, suspended, resumed, deleted.
import { invalidBody } from '../../problem.ts'
import type { Parsed } from '../../query/parameters.ts'
import { parseParameters } from '../../query/question.ts'
import * as wire from '../../wire/operator.ts'
import { DEFAULT_LIMIT } from '../../wire/parameters.ts'
import type { Mounts } from '../mount.ts'
import type { PeopleDeps } from './session-answers.ts'

export function mountOperator({ on }: Mounts, { accounts, onDeleted }: PeopleDeps): void {
  const { operator } = accounts

  on(wire.LIST_OPERATED, async (_, { request }) => {
    const given = parseParameters(wire.LIST_OPERATED, new URL(request.url).searchParams, PARSERS)
    const { sort = 'bytes', q, state, limit = DEFAULT_LIMIT, cursor } = given
    const isSuspended = state === 'suspended'
    const { next, ...page } = await operator.list({ sort, q, isSuspended, limit, after: cursor })
    return { ...page, next: next && `${next.figure}.${next.id}` }
  })
  on(wire.SUSPEND_ACCOUNT, async (_, { params, noted }) => {
    const account = await operator.suspend(params.id)
    noted.detail = account.email
    return { account }
  })
  on(wire.RESUME_ACCOUNT, async (_, { params, noted }) => {
    const account = await operator.resume(params.id)
    noted.detail = account.email
    return { account }
  })
  on(wire.DELETE_OPERATED, async (_, { params, body: { id }, noted }) => {
    if (id !== params.id) throw invalidBody([{ pointer: '/id', detail: 'is not the id of the path' }])
    noted.detail = await operator.findOther(id)
    await accounts.delete(id)
    onDeleted(id)
  })
}

const PARSERS = {
  cursor: (text: string): Parsed<{ figure: number; id: string }> => {
    const [, figure, id] = /^(\d{1,16})\.(acc_\w{1,60})$/.exec(text) ?? []
    return figure === undefined || id === undefined
      ? { detail: 'is not a cursor of this question' }
      : { value: { figure: Number(figure), id } }
  },
}
