// Questions about exceptions.
import { mapInTurns } from '../../turns.ts'
import { groupTie } from '../order.ts'
import type {
  ExceptionGroupRow,
  ExceptionMoment,
  ExceptionRow,
  ExceptionSelection,
  ExceptionSource,
  GroupKey,
  GroupSpan,
  MomentsQuestion,
  Page,
} from '../source.ts'
import { findWords } from './find-words.ts'
import { findInParts } from './newest-part.ts'
import { findRaised } from './raised.ts'
import type { Schema } from './schema.ts'
import {
  bucketOf,
  type Conditions,
  EVENT_TIE,
  isIn,
  limitOf,
  listOf,
  type Ns,
  nsText,
  orderBy,
  type Select,
  selectionOf,
  tieText,
  timeParam,
  toInt64,
  withEqual,
  withPlace,
} from './selection.ts'

type ExceptionQuestions = Omit<ExceptionSource, 'findTexts' | 'findExceptionProcesses' | 'close'>

interface StoredException extends Omit<ExceptionRow, 'atNs' | 'place'> {
  readonly ns: Ns
  readonly tie: string
}

interface StoredMoment extends Omit<ExceptionMoment, 'atNs'> {
  readonly ns: Ns
}

/** The time in nanoseconds, the rest of the stamp and the content of an event, which identify it within its process. */
type NewestKey = readonly [ns: Ns, stampRest: string, content: string]

interface StoredSpan extends GroupKey {
  readonly first_ns: Ns
  readonly last_ns: Ns
}

interface StoredGroup extends StoredSpan {
  readonly newest: NewestKey
  readonly newest_meta: string
  readonly occurrences: number
  readonly runs: number
  readonly buckets_ns?: readonly Ns[]
  readonly counts?: readonly number[]
}

/** The newest exceptions that meet the conditions (joined by AND); `limit` is an expression. */
const newestExceptionsSql = (exceptions: string, where: readonly string[], limit: string): string =>
  `SELECT ${nsText('at')} AS ns, process, meta, uid, exception, fingerprint, ${tieText(EVENT_TIE)} FROM ${exceptions}
WHERE ${where.join(' AND ')}
ORDER BY ${orderBy(EVENT_TIE)} LIMIT ${limit}`

/** A text in a list: a long one without its middle, as its ends say what happened. The mark looks like a frame. */
const ENDS = `if(length(exception) > 4000, concat(substringUTF8(exception, 1, 2000), '\\n  …\\n',
    replaceRegexpOne(substringUTF8(exception, -2000), '^[^\\n]*\\n+([^\\n])', '\\\\1')), exception)`

/** A row per fingerprint and process, greatest `key` first. `bucket` (of `at`, Int64) adds counts, `behind` HAVING. */
function exceptionGroupsSql(
  exceptions: string,
  where: readonly string[],
  limit: string,
  { key, bucket, behind }: { key: string; bucket?: string; behind?: string },
): string {
  // one state per group, whatever the number of buckets
  const counts = `sumMap([${bucket}], [toUInt64(1)])`
  const series =
    bucket === undefined
      ? ''
      : `,\n  arrayMap(ns -> toString(ns), (${counts} AS counted).1) AS buckets_ns, counted.2 AS counts`
  return `SELECT fingerprint, process, count() AS occurrences, uniqExactIf((meta, uid), uid != '') AS runs,
  ${nsText('min(at)')} AS first_ns, ${nsText('max(at)')} AS last_ns,
  (max((at, stamp_rest, content)) AS last).1 AS last_at,
  [${nsText('last_at')}, toString(last.2), toString(last.3)] AS newest,
  argMax(meta, (at, stamp_rest, content)) AS newest_meta${series}
FROM ${exceptions}
WHERE ${where.join(' AND ')}
GROUP BY fingerprint, process${behind === undefined ? '' : `\nHAVING ${behind}`}
ORDER BY ${key} DESC, fingerprint, process LIMIT ${limit}`
}

const PAIR = 'Tuple(String, String)'

/** `name` tells its parameters apart. */
const inGroups = (name: string, groups: readonly GroupKey[]) =>
  isIn(
    '(fingerprint, process)',
    name,
    groups.map(({ fingerprint, process }) => [fingerprint, process]),
    PAIR,
  )

function selectExceptions(q: ExceptionSelection): Conditions {
  const { where, params } = withEqual(withEqual(selectionOf(q), 'fingerprint', q.fingerprint), 'uid', q.uid)
  const { words = [], only, without } = q
  const found = findWords(words)
  const within = only && inGroups('only', only)
  const outside = without?.length ? inGroups('without', without) : undefined
  return {
    where: [
      ...where,
      ...found.where,
      ...(within === undefined ? [] : [within.sql]),
      ...(outside === undefined ? [] : [`NOT (${outside.sql})`]),
    ],
    params: {
      ...params,
      ...found.params,
      ...within?.params,
      ...outside?.params,
    },
  }
}

export function createExceptionQuestions(select: Select, schema: Schema): ExceptionQuestions {
  const exceptions = schema.view('exceptions')

  /** The newest text of each group. A second question: an aggregate over texts would read those of all exceptions. */
  async function findExamples(
    q: ExceptionSelection,
    groups: readonly Pick<StoredGroup, 'process' | 'newest'>[],
  ): Promise<ReadonlyMap<string, string>> {
    if (groups.length === 0) return new Map()
    const processes = isIn('process', 'of', [...new Set(groups.map(({ process }) => process))])
    const times = listOf('times', [...new Set(groups.map(({ newest }) => newest[0]))])
    const events = isIn(
      '(process, toString(stamp_rest), toString(content))',
      'events',
      groups.map(({ process, newest: [, rest, content] }) => [process, rest, content]),
      'Tuple(String, String, String)',
    )
    // not FINAL: the texts of an exception that was stored twice are equal
    const rows = await select<{ process: string; newest: NewestKey; example: string }>(
      `SELECT process, [${nsText('at')}, toString(stamp_rest), toString(content)] AS newest,
  ${q.fingerprint === undefined ? ENDS : 'exception'} AS example FROM ${schema.raw('exceptions')}
WHERE account = {account:String} AND ${processes.sql}
  AND at IN (SELECT fromUnixTimestamp64Nano(toInt64(arrayJoin(${times.list})), 'UTC')) AND ${events.sql}`,
      { account: q.account, ...processes.params, ...times.params, ...events.params },
      q,
    )
    return new Map(rows.map(({ process, newest, example }) => [exampleKey(process, newest), example]))
  }

  return {
    findExceptions: (whole, page) =>
      findInParts(whole, page, async (q) => {
        const { where, params } = withPlace(selectExceptions(q), page, EVENT_TIE)
        const sql = newestExceptionsSql(exceptions, where, '{limit:UInt32}')
        return (await select<StoredException>(sql, params, q)).map(fromExceptionRow)
      }),

    async findMoments({ subjects, limitEach, limit, ...q }: MomentsQuestion) {
      if (subjects?.length === 0) return []
      const { where, params } = selectExceptions(q)
      const pairs = subjects?.map(({ process, meta }) => [process, meta])
      const among = pairs && isIn('(process, meta)', 'among', pairs, PAIR)
      const rows = await select<StoredMoment>(
        `SELECT ${nsText('at')} AS ns, process, meta, uid FROM ${exceptions}
WHERE ${[...where, ...(among === undefined ? [] : [among.sql])].join(' AND ')}
ORDER BY at DESC LIMIT {limit_each:UInt32} BY process, meta LIMIT {limit:UInt32}`,
        { ...params, ...among?.params, limit_each: limitEach, limit },
        q,
      )
      return mapInTurns(rows, ({ ns, ...row }) => ({ atNs: BigInt(ns), ...row }))
    },

    async countExceptions(q) {
      const { where, params } = selectExceptions(q)
      const rows = await select<{ process: string; meta: string; occurrences: number }>(
        `SELECT process, meta, count() AS occurrences FROM ${exceptions}
WHERE ${where.join(' AND ')} GROUP BY process, meta${limitOf(q)}`,
        params,
        q,
      )
      return rows.map(({ occurrences, ...row }) => ({ ...row, count: Number(occurrences) }))
    },

    async groupExceptions(q, { limit, after, byCount }) {
      const [key, afterKey] = byCount ? ['count()', '{after:Int64}'] : ['max(at)', AFTER]
      const { where, params } = selectExceptions(q)
      const bucket = bucketOf('toUnixTimestamp64Nano(at)', q)
      const sql = exceptionGroupsSql(exceptions, where, '{limit:UInt32}', {
        key,
        ...(bucket && { bucket: bucket.sql }),
        ...(after && { behind: behind(key, afterKey) }),
      })
      const bound = { ...params, limit, ...bucket?.params, ...(after && bindBehind(after)) }
      const groups = await select<StoredGroup>(sql, bound, q)
      const examples = await findExamples(q, groups)
      return groups.flatMap((group) => {
        const example = examples.get(exampleKey(group.process, group.newest))
        return example === undefined ? [] : [fromGroup(group, example, byCount)] // none: its account was erased
      })
    },

    findRaised: (q) => {
      const findTexts = async (groups: readonly { readonly process: string; readonly newest: NewestKey }[]) => {
        const examples = await findExamples(q, groups)
        return groups.map(({ process, newest }) => examples.get(exampleKey(process, newest)) ?? '')
      }
      return findRaised(select, schema, findTexts, q)
    },

    async findGroupSpans(q) {
      if (q.only?.length === 0) return []
      const { where, params } = selectExceptions(q)
      // not FINAL: an exception that was stored twice changes no minimum and no maximum
      const rows = await select<StoredSpan>(
        `SELECT fingerprint, process, ${nsText('min(at)')} AS first_ns, ${nsText('max(at)')} AS last_ns
FROM ${schema.raw('exceptions')} WHERE ${where.join(' AND ')} GROUP BY fingerprint, process${limitOf(q)}`,
        params,
        q,
      )
      return mapInTurns(rows, toSpan)
    },
  }
}

const AFTER = timeParam('after')
const behind = (key: string, after: string) =>
  `${key} <= ${after} AND (${key} < ${after} OR fingerprint > {after_fingerprint:String}
  OR (fingerprint = {after_fingerprint:String} AND process > {after_process:String}))`

function bindBehind({ ns, tie }: NonNullable<Page['after']>) {
  const [fingerprint = '', process = ''] = tie.split('\0')
  return { after: toInt64(ns), after_process: process, after_fingerprint: fingerprint }
}

const fromExceptionRow = ({ ns, tie, ...row }: StoredException): ExceptionRow => ({
  atNs: BigInt(ns),
  ...row,
  place: { ns: BigInt(ns), tie },
})

const toSpan = ({ fingerprint, process, first_ns, last_ns }: StoredSpan): GroupSpan => ({
  fingerprint,
  process,
  firstNs: BigInt(first_ns),
  lastNs: BigInt(last_ns),
})

const exampleKey = (process: string, newest: NewestKey): string => [process, ...newest].join('\0')

const fromGroup = (row: StoredGroup, example: string, byCount = false): ExceptionGroupRow => ({
  ...toSpan(row),
  count: Number(row.occurrences),
  runs: Number(row.runs),
  example,
  meta: row.newest_meta,
  place: { ns: BigInt(byCount ? row.occurrences : row.last_ns), tie: groupTie(row) },
  ...(row.buckets_ns !== undefined && {
    counts: row.buckets_ns.map((ns, i) => ({ atNs: BigInt(ns), count: Number(row.counts![i]) })),
  }),
})
