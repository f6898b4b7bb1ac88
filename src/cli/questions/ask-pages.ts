// A question's answer, page by page. A cursor fixes the range of the first page, so nothing is skipped or told twice.
import type { Api } from '../api.ts'
import { CliError } from '../io.ts'

export interface Page {
  readonly rows: readonly unknown[]
  /** Null on the last page; undefined where there are no pages. */
  readonly next: string | null | undefined
}

/** The first page, or all. `list` is the member of the answer that holds the rows. Throws CliError. */
export async function* askPages(
  api: Api,
  path: string,
  list: string,
  parameters: URLSearchParams,
  isAll: boolean,
): AsyncGenerator<Page> {
  const query = new URLSearchParams(parameters)
  for (;;) {
    const search = query.toString()
    const { body } = await api.askWithKey('GET', search === '' ? path : `${path}?${search}`)
    const { [list]: rows, next } = body as Record<string, unknown>
    if (!Array.isArray(rows)) throw new CliError('the answer is not one of Stint: is STINT_URL right?')
    const cursor = typeof next === 'string' ? next : next === undefined ? undefined : null
    yield { rows, next: cursor }
    if (!isAll || typeof cursor !== 'string') return
    query.set('cursor', cursor)
  }
}
