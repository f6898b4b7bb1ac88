// GET /api/changes: whether anything was stored since an earlier answer.
import { Elysia } from 'elysia'
import type { Changes } from '../../query/changes.ts'
import { parseParameters } from '../../query/question.ts'
import { FIND_CHANGES } from '../../wire/changes.ts'
import type { Authorize } from '../authorize.ts'
import { createMount } from '../mount.ts'

export interface ChangesRouteDeps {
  readonly authorize: Authorize
  readonly changes: Changes
}

export function changesRoute({ authorize, changes }: ChangesRouteDeps) {
  const app = new Elysia({ normalize: false })
  createMount(app, authorize)(FIND_CHANGES, ({ account }, { request }) => {
    parseParameters({}, new URL(request.url).searchParams)
    return changes.of(account)
  })
  return app
}
