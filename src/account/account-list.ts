// All accounts as the operator sees them, in any order, searched and paged: 100,000 are read a page of the table at a
// time, so that nothing else waits, and kept for as long as somebody looks through them.
import { toTime } from '../clock.ts'
import { all, type SqlDatabase } from '../state/database.ts'
import { rest, spend } from '../turns.ts'
import type { AccountSort, OperatedAccount, OperatedAccounts } from '../wire/operator.ts'
import { type AccountRow, isSuspended } from './account-rows.ts'
import type { Use } from './use.ts'

const PAGE_ROWS = 500
const KEPT_MS = 10_000

interface Row extends AccountRow {
  /** When a key was used last, and when a person was there last: ms since the epoch. */
  readonly used_ms: number | null
  readonly seen_ms: number | null
}

const SELECT = `SELECT id, name, email, operator, created_ms, suspended_ms, resumed_ms,
  (SELECT max(last_used_ms) FROM api_key WHERE api_key.account = account.id) AS used_ms,
  (SELECT max(seen_ms) FROM session WHERE session.account = account.id) AS seen_ms FROM account`

interface AccountQuestion {
  readonly sort: AccountSort
  readonly q?: string | undefined
  readonly isSuspended: boolean
  readonly limit: number
  readonly after?: Place | undefined
}

/** The last account of a page: the figure that it is ordered by, and its id. */
export interface Place {
  readonly figure: number
  readonly id: string
}

const seenOf = ({ used_ms, seen_ms }: Row): number => Math.max(used_ms ?? 0, seen_ms ?? 0)

/** Most first, then by id. */
const isBefore = (a: Place, b: Place): boolean => a.figure > b.figure || (a.figure === b.figure && a.id < b.id)

export function createAccountList(database: SqlDatabase, use: Pick<Use, 'figuresOf'>) {
  let kept: Promise<readonly Row[]> | undefined
  let timer: Timer | undefined

  async function readAll(): Promise<Row[]> {
    const rows: Row[] = []
    for (let after = ''; ; after = rows.at(-1)!.id) {
      const page = await database.read(() => all<Row>(`${SELECT} WHERE id > $1 ORDER BY id LIMIT ${PAGE_ROWS}`, after))
      for (const row of page) rows.push(row)
      if (page.length < PAGE_ROWS) return rows
      await rest()
    }
  }

  function forget(): void {
    kept = undefined
    clearTimeout(timer)
  }

  function rows(): Promise<readonly Row[]> {
    if (kept !== undefined) return kept
    const reading = readAll()
    kept = reading
    reading.then(
      () => {
        if (kept !== reading) return
        timer = setTimeout(forget, KEPT_MS)
        timer.unref()
      },
      () => {
        if (kept === reading) forget()
      },
    )
    return reading
  }

  const figureOf = (row: Row, sort: AccountSort): number => {
    if (sort === 'created') return row.created_ms
    return sort === 'seen' ? seenOf(row) : use.figuresOf(row.id)[sort]
  }

  const show = (row: Row): OperatedAccount => ({
    id: row.id,
    name: row.name,
    email: row.email,
    created_at: toTime(row.created_ms),
    operator: row.operator === 1,
    suspended_at: isSuspended(row) ? toTime(row.suspended_ms!) : null,
    ...use.figuresOf(row.id),
    seen_at: seenOf(row) === 0 ? null : toTime(seenOf(row)),
  })

  return {
    /** An account was changed or deleted. */
    forget,
    async find(id: string): Promise<OperatedAccount | undefined> {
      const [row] = await database.read(() => all<Row>(`${SELECT} WHERE id = $1`, id))
      return row && show(row)
    },
    /** `next`: the last account of the page, if there are more. */
    async list(question: AccountQuestion): Promise<Omit<OperatedAccounts, 'next'> & { readonly next: Place | null }> {
      const { sort, limit, after } = question
      const text = question.q?.toLowerCase()
      const best: (Place & { readonly row: Row })[] = []
      let [total, suspended, found] = [0, 0, 0]
      for (const row of await rows()) {
        total++
        if (spend()) await rest()
        if (isSuspended(row)) suspended++
        else if (question.isSuspended) continue
        if (text && !`${row.id}\n${row.name}\n${row.email}`.toLowerCase().includes(text)) continue
        found++
        const place = { figure: figureOf(row, sort), id: row.id, row }
        if (after !== undefined && !isBefore(after, place)) continue
        const last = best.at(-1)
        if (best.length > limit && !isBefore(place, last!)) continue
        insert(best, place)
        if (best.length > limit + 1) best.pop()
      }
      const page = best.slice(0, limit)
      const { figure, id } = page.at(-1) ?? { figure: 0, id: '' }
      return {
        accounts: page.map(({ row }) => show(row)),
        next: best.length > limit ? { figure, id } : null,
        found,
        total,
        suspended,
      }
    },
  }
}

/** Into an ordered list. */
function insert<T extends Place>(list: T[], place: T): void {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(list[middle]!, place)) low = middle + 1
    else high = middle
  }
  list.splice(low, 0, place)
}
