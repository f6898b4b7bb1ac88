// Raw marks for the watches, which pair them themselves.
import { mapInTurns } from '../../turns.ts'
import type { FoundMark, MarkSelection, PointSource } from '../source.ts'
import type { Schema } from './schema.ts'
import { type Ns, nsText, type Select, selectionOf } from './selection.ts'

interface MarkColumns {
  readonly name: FoundMark['mark']
  readonly ns: Ns
  readonly stamp_rest: number
}

type MarkQuestions = Pick<PointSource, 'findMarks' | 'findStartTimes' | 'boundMarks'>

export function createMarkQuestions(select: Select, schema: Schema): MarkQuestions {
  /** Reads the table and not the FINAL view: a mark that is there twice is the same mark. */
  const from = (q: MarkSelection) => {
    const { where, params } = selectionOf(q)
    return { sql: `FROM ${schema.raw('marks')} WHERE ${where.join(' AND ')}`, params }
  }

  return {
    /** The rows of the table, those of other accounts and repeated ones among them. None of a cluster's are known. */
    async boundMarks(asker) {
      const [row] = await select<{ rows: string | null }>(
        'SELECT toString(total_rows) AS rows FROM system.tables WHERE database = {database:String} AND name = ' +
          "'marks_raw'",
        { database: schema.database.slice(1, -1) },
        asker,
      )
      return row?.rows == null ? undefined : Number(row.rows)
    },
    async findMarks(q) {
      const { sql, params } = from(q)
      const each = q.perSeries === undefined ? '' : ` LIMIT {each:UInt32} BY process, meta`
      const rows = await select<Omit<FoundMark, 'mark' | 'ns' | 'restNs'> & MarkColumns>(
        `SELECT process, meta, uid, toString(mark) AS name, ${nsText('at')} AS ns, stamp_rest ${sql} ` +
          `ORDER BY at DESC${each} LIMIT {max:UInt32}`,
        { ...params, max: q.maxRows, ...(q.perSeries !== undefined && { each: q.perSeries }) },
        q,
      )
      return mapInTurns(rows, ({ process, meta, uid, name, ns, stamp_rest }) => ({
        process,
        meta,
        uid,
        mark: name,
        ns: BigInt(ns),
        restNs: Number(stamp_rest),
      }))
    },
    /** Lists are selected as text: a server may write their numbers as texts. */
    async findStartTimes(q) {
      const { sql, params } = from(q)
      const rows = await select<{ process: string; meta: string; is_end: number; newest: string; hours: string }>(
        `SELECT process, meta, mark != 'start' AS is_end,
  toString(groupArraySorted(${Math.trunc(q.each)})(-toUnixTimestamp64Micro(at))) AS newest,
  toString(groupUniqArray(intDiv(toUInt32(toUnixTimestamp64Second(at)), 3600))) AS hours
${sql} GROUP BY process, meta, is_end`,
        params,
        q,
      )
      return mapInTurns(rows, ({ process, meta, is_end, newest, hours }) => ({
        process,
        meta,
        isEnd: Number(is_end) === 1,
        newest: (JSON.parse(newest) as number[]).map((us) => BigInt(-us) * 1000n),
        hours: (JSON.parse(hours) as number[]).map((hour) => hour * 3600),
      }))
    },
  }
}
