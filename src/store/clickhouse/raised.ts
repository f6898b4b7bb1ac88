// The groups of exceptions of each process and meta, with their newest moments: all from one reading, so that live,
// which folds the log, knows which exceptions are in it.
import type { RaisedRow } from '../raised-rows.ts'
import type { RaisedQuestion } from '../source.ts'
import type { Schema } from './schema.ts'
import { limitOf, type Select, selectionOf, timeParam, toInt64 } from './selection.ts'

interface StoredRaised {
  readonly fingerprint: string
  readonly process: string
  readonly meta: string
  /** JSON of [−time in ns, rest of the stamp, content, uid]. */
  readonly moments: string
  readonly hours: string
  readonly counts: string
}

/** The time in ns, the rest of the stamp and the content. */
type EventKey = readonly [ns: string, stampRest: string, content: string]

type StoredMoment = readonly [minusNs: string, restNs: number, content: string, uid: string]

export async function findRaised(
  select: Select,
  schema: Schema,
  findTexts: (groups: readonly { readonly process: string; readonly newest: EventKey }[]) => Promise<string[]>,
  q: RaisedQuestion,
): Promise<RaisedRow[]> {
  const { where, params } = selectionOf(q)
  const hour = 'toUInt32(intDiv(toUnixTimestamp64Second(at), 3600))'
  const counted = `sumMapIf([${hour}], [toUInt64(1)], at >= ${timeParam('count_from')})`
  const rows = await select<StoredRaised>(
    `SELECT fingerprint, process, meta,
  toJSONString(arrayMap(m -> (toString(m.1), m.2, toString(m.3), m.4), groupArraySorted(${Math.trunc(q.each)})(
    (-toUnixTimestamp64Nano(at), stamp_rest, content, uid)))) AS moments,
  toJSONString((${counted} AS counted).1) AS hours, toJSONString(arrayMap(n -> toUInt32(n), counted.2)) AS counts
FROM ${schema.view('exceptions')} WHERE ${where.join(' AND ')} GROUP BY fingerprint, process, meta
ORDER BY max(at) DESC, fingerprint, process, meta${limitOf(q)}`,
    { ...params, count_from: toInt64(q.countFromNs) },
    q,
  )
  const found = rows.map((row) => ({ row, moments: JSON.parse(row.moments) as StoredMoment[] }))
  const texts = await findTexts(
    found.map(({ row: { process }, moments: [newest] }) => ({
      process,
      newest: [newest![0].slice(1), String(newest![1]), newest![2]],
    })),
  )
  return found.map(({ row, moments }, i) => {
    const { fingerprint, process, meta } = row
    const counts = JSON.parse(row.counts) as number[]
    return {
      fingerprint,
      process,
      meta,
      example: texts[i]!,
      moments: moments.map(([minusNs, restNs, , uid]) => ({ atNs: -BigInt(minusNs), restNs: Number(restNs), uid })),
      hours: (JSON.parse(row.hours) as number[]).map((hour, at) => [hour, counts[at]!] as const),
    }
  })
}
