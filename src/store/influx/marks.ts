// Raw marks for the watches, which pair them themselves.
import { rest, sortInTurns, spend } from '../../turns.ts'
import { compare } from '../order.ts'
import type { FoundMark, MarkSelection } from '../source.ts'
import type { InfluxClient } from './client.ts'
import { createMarkReader, type MarkReader, type MarkSeries } from './read-marks.ts'
import { ceilS, floorS } from './slices.ts'

/** Newest first. Pairs of fields are not joined by InfluxDB: a pivot costs ten times what reading the marks does. */
export async function findMarks(
  client: InfluxClient,
  q: MarkSelection & { readonly perSeries?: number | undefined; readonly maxRows: number },
): Promise<FoundMark[]> {
  if (q.process?.length === 0) return []
  const reader = createMarkReader(client, q, { tail: q.perSeries })
  const series = await readNewest(reader, floorS(q.fromNs), ceilS(q.toNs), q.maxRows)
  const rows: FoundMark[] = []
  for (const { subject, marks } of series)
    for (const { mark, uid, at, stampUs, sub } of marks) {
      const ns = BigInt(at) * 1000n
      if (ns >= q.fromNs && ns < q.toNs) rows.push({ ...subject, uid, mark, ns, restNs: (stampUs - at) * 1000 + sub })
      if (spend(4)) await rest()
    }
  const left = new Map<string, number>()
  const found: FoundMark[] = []
  for (const row of await sortInTurns(rows, (a, b) => compare(b.ns, a.ns))) {
    const key = `${row.process}\0${row.meta}`
    const n = left.get(key) ?? q.perSeries ?? Number.POSITIVE_INFINITY
    left.set(key, n - 1)
    if (n > 0 && found.push(row) === q.maxRows) break
    if (spend(2)) await rest()
  }
  return found
}

/** At least the newest `maxRows` marks of the seconds [fromS, toS), and few more: a range that holds more is halved. */
async function readNewest(reader: MarkReader, fromS: number, toS: number, maxRows: number): Promise<MarkSeries[]> {
  const found = await reader.read(fromS, toS, toS - fromS > 1 ? maxRows : undefined)
  if (found !== undefined) return found
  const middleS = Math.ceil((fromS + toS) / 2)
  const newer = await readNewest(reader, middleS, toS, maxRows)
  const left = maxRows - newer.reduce((sum, { marks }) => sum + marks.length, 0)
  return left <= 0 ? newer : [...newer, ...(await readNewest(reader, fromS, middleS, left))]
}
