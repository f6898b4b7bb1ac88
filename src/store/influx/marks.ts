// Raw marks for the watches, which pair them themselves.
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
  const rows = series.flatMap(({ subject, marks }) =>
    marks.map(
      ({ mark, uid, at, stampUs, sub }): FoundMark => ({
        ...subject,
        uid,
        mark,
        ns: BigInt(at) * 1000n,
        restNs: (stampUs - at) * 1000 + sub,
      }),
    ),
  )
  const left = new Map<string, number>()
  const isFew = ({ process, meta }: FoundMark) => {
    const key = `${process}\0${meta}`
    const n = left.get(key) ?? q.perSeries ?? Number.POSITIVE_INFINITY
    left.set(key, n - 1)
    return n > 0
  }
  return rows
    .filter(({ ns }) => ns >= q.fromNs && ns < q.toNs)
    .sort((a, b) => compare(b.ns, a.ns))
    .filter(isFew)
    .slice(0, q.maxRows)
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
