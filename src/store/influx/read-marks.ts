// Reads raw marks from InfluxDB's CSV. The field `uid` is enough: its time is the stamp, which holds the mark's time,
// and its text is the exact key of the run. `pair` would be no smaller, and its 60 bits of hash are not exact.
//
// Marks without uid are read separately, without their value: InfluxDB 2.7 drops an empty string that follows others in
// a column and shifts the rest. Both conditions are pushed down; comparing `pair` with a negative number is not.
import type { MarkName } from '../../event/event.ts'
import { timeUs } from '../../event/stamp.ts'
import { rest, spend } from '../../turns.ts'
import { ceilUs } from '../pair-marks.ts'
import type { TimingSelection } from '../source.ts'
import { type FluxText, flux, fluxDateTime, fluxExpression, type GetColumn, type InfluxClient } from './client.ts'
import { fluxNs, fluxText, pointsIn, whereTags } from './selection.ts'

/** The runs of one process and meta. Subjects are compared by identity within one question. */
export interface Subject {
  readonly process: string
  readonly meta: string
}

/** A mark without its subject, which its series has. */
export interface SeriesMark {
  readonly mark: MarkName
  readonly uid: string
  /** The mark's time in µs. */
  readonly at: number
  /** Its stamp: µs, and the last three digits. */
  readonly stampUs: number
  readonly sub: number
}

/** Marks of one kind, in the order of their stamps. */
export interface MarkSeries {
  readonly subject: Subject
  readonly marks: SeriesMark[]
}

/** Which run marks belong to, with its subject by identity: cheaper to compare than a RunName. */
export interface RunKey {
  readonly subject: Subject
  readonly uid: string
}

type Question = Pick<TimingSelection, 'account' | 'process' | 'meta' | 'uid' | 'asOfNs' | 'knownToNs' | 'signal'>

/** They take about 20 MB. */
const SLICE_MARKS = 200_000

interface MarkLimits {
  /** At most so many, the newest, of each process, meta, kind of mark, and with or without uid. */
  readonly tail?: number | undefined
  /** Marks that should be read at once. */
  readonly sliceMarks?: number | undefined
}

export type MarkReader = ReturnType<typeof createMarkReader>

/** For one question. */
export function createMarkReader(
  client: InfluxClient,
  q: Question,
  { tail, sliceMarks = SLICE_MARKS }: MarkLimits = {},
) {
  const subjects = new Map<string, Subject>()
  const subjectOf = (process: string, meta: string): Subject => {
    const key = `${process}\0${meta}`
    const subject = subjects.get(key) ?? { process, meta }
    subjects.set(key, subject)
    return subject
  }
  const asOfUs = q.asOfNs === undefined ? Number.POSITIVE_INFINITY : Number(q.asOfNs / 1000n)
  const knownToUs = q.knownToNs === undefined ? Number.POSITIVE_INFINITY : ceilUs(q.knownToNs)
  const isKnown = (us: number, sub: number) => us < knownToUs && (us <= asOfUs || sub % 2 === 1) // see `asOfNs`

  async function run(parts: readonly FluxText[], maxRows = Number.POSITIVE_INFINITY) {
    const found: MarkSeries[] = []
    let rows = 0
    const parser = createMarkParser(subjectOf, found, isKnown)
    const query = fluxExpression(parts.map((part, i) => `${part} |> yield(name: "r${i}")`).join('\n'))
    await client.readCsv(
      query,
      (bytes) => {
        const taken = parser.take(bytes)
        rows += taken
        if (rows > maxRows) return 'enough'
        return spend(taken) ? rest() : undefined
      },
      q.signal,
    )
    return rows > maxRows ? undefined : found
  }

  const uids = (startS: number, stopS: number, where: FluxText): FluxText =>
    pointsIn(
      client,
      fluxSecond(startS),
      fluxSecond(stopS),
      flux`r._measurement == "mark" and r._field == "uid" and ${where}`,
    )

  const select = (startS: number, stopS: number, where: FluxText, uid?: string): FluxText[] => {
    const ofUid = (uid: string) => (uid === '' ? NO_UID : flux`r._value == ${fluxText(uid)}`)
    const kinds = uid === undefined ? [WITH_UID, NO_UID] : [ofUid(uid)]
    return kinds.map(
      (kind) => flux`${uids(startS, stopS, flux`${where} and ${kind}`)}${newest}
  |> drop(columns: ${kind === NO_UID ? [...DROPPED, '_value'] : DROPPED})`,
    )
  }

  const newest = tail === undefined ? flux`` : flux`\n  |> tail(n: ${fluxNs(BigInt(tail))})`
  const where = whereTags(q)
  return {
    /** The one object of the subject in this question. */
    subjectOf,
    /** Marks that should be read at once. */
    sliceMarks,
    /** All marks of the seconds [startS, stopS); undefined when there are more than `maxRows`. */
    read: (startS: number, stopS: number, maxRows?: number): Promise<MarkSeries[] | undefined> =>
      run(select(startS, stopS, where, q.uid), maxRows),
    /** The same, of these processes alone. */
    among(processes: readonly string[]) {
      const ofThem = whereTags({ ...q, process: processes })
      return {
        read: (startS: number, stopS: number, maxRows?: number) => run(select(startS, stopS, ofThem, q.uid), maxRows),
      }
    },
    /** How many marks of each process [startS, stopS) holds, from a count that is pushed down. */
    async countMarks(startS: number, stopS: number): Promise<Map<string, number>> {
      const counts = new Map<string, number>()
      const add = (get: GetColumn) => {
        counts.set(get('process'), (counts.get(get('process')) ?? 0) + Number(get('_value')))
        return undefined
      }
      const query = flux`${uids(startS, stopS, where)}
  |> count()
  |> keep(columns: ["process", "_value"])`
      await client.readRows(query, add, q.signal)
      return counts
    },
    /** The ends that failed. */
    readFailed: (startS: number, stopS: number, maxRows: number): Promise<MarkSeries[] | undefined> =>
      run(select(startS, stopS, flux`${where} and r.mark == "failed"`, q.uid), maxRows),
    /** The same of these runs alone. */
    async readRuns(runs: readonly RunKey[], startS: number, stopS: number): Promise<MarkSeries[]> {
      const parts = runs.flatMap(({ subject, uid }) =>
        select(startS, stopS, whereTags({ account: q.account, ...subject }), uid),
      )
      return parts.length === 0 ? [] : ((await run(parts)) ?? [])
    },
  }
}

const WITH_UID = flux`r._value != ""`
const NO_UID = flux`r._value == ""`
/** They would be half of the answer. The tags that stay keep the series apart, which need not be merged so. */
const DROPPED = ['_start', '_stop', '_measurement', '_field', 'account']

const fluxSecond = (s: number): FluxText => fluxDateTime(new Date(s * 1000).toISOString())

const [NEWLINE, COMMA, QUOTE, CR, HASH, DOT, Z] = [10, 44, 34, 13, 35, 46, 90]

/**
 * Reads `,result,table,_time,_value,mark,meta,process` rows (columns may be missing) into `found`. Tags are read once
 * per table: its rows end in the same bytes. `take` returns the number of rows and throws the errors in the answer.
 */
function createMarkParser(
  subjectOf: (process: string, meta: string) => Subject,
  found: MarkSeries[],
  isKnown: (us: number, sub: number) => boolean,
) {
  let rest: Buffer<ArrayBufferLike> = Buffer.alloc(0)
  /** The columns of the following rows; undefined: a header is next. */
  let columns: readonly string[] | undefined
  let hasValue = false
  let resultBytes = 0
  let table = -1
  let tagBytes = 0
  let mark: MarkName = 'start'
  let marks: SeriesMark[] = []
  let [day, dayUs] = [-1, 0]

  function readHeader(line: string): void {
    if (line === '' || line.charCodeAt(0) === HASH) return
    columns = line.split(',')
    table = -1
    hasValue = columns[4] === '_value'
    resultBytes = 0
    if (columns[3] !== '_time' && columns[1] !== 'error')
      throw new Error('an answer of InfluxDB lacks the column _time')
  }

  function openTable(line: string, tagsFrom: number): void {
    const cells = splitCsv(line)
    const cell = (name: string) => cells[columns!.indexOf(name)] ?? ''
    mark = cell('mark') as MarkName
    marks = []
    found.push({
      subject: subjectOf(cell('process'), columns!.includes('meta') ? cell('meta') : ''),
      marks,
    })
    tagBytes = Buffer.byteLength(line) - tagsFrom
  }

  /** The row in [from, to), without its line break. */
  function readRow(b: Buffer, from: number, to: number): void {
    if (columns![1] === 'error') throw new Error(splitCsv(b.toString('utf8', from, to))[1])
    if (resultBytes === 0) resultBytes = b.indexOf(COMMA, from + 1) - from + 1
    let i = from + resultBytes
    let number = 0
    for (let c = b[i]!; c !== COMMA; c = b[++i]!) number = number * 10 + c - 48
    const time = i + 1
    const timeEnd = b.indexOf(COMMA, time)
    if (number !== table) {
      table = number
      const tagsFrom = hasValue ? b.indexOf(COMMA, timeEnd + 1) : timeEnd
      openTable(b.toString('utf8', from, to), tagsFrom - from)
    }
    const uid = hasValue ? b.toString('latin1', timeEnd + 1, to - tagBytes) : ''
    readTime(b, time, timeEnd, uid)
  }

  /** `2026-11-20T21:52:42.171920042Z`, with as many digits behind the point as needed. */
  function readTime(b: Buffer, at: number, end: number, uid: string): void {
    const two = (i: number) => b[at + i]! * 10 + b[at + i + 1]! - 528
    const date = ((two(0) * 100 + two(2)) * 13 + two(5)) * 32 + two(8)
    if (date !== day) {
      day = date
      dayUs = Date.UTC(two(0) * 100 + two(2), two(5) - 1, two(8)) * 1000
    }
    let [fraction, digits] = [0, 0]
    if (b[at + 19] === DOT)
      for (let i = at + 20; i < end && b[i] !== Z; i++, digits++) fraction = fraction * 10 + b[i]! - 48
    for (; digits < 9; digits++) fraction *= 10
    const sub = fraction % 1000
    const stampUs = dayUs + ((two(11) * 60 + two(14)) * 60 + two(17)) * 1e6 + (fraction - sub) / 1000
    const us = timeUs({ us: stampUs, sub })
    if (!isKnown(us, sub)) return
    marks.push({ mark, uid, at: us, stampUs, sub })
  }

  return {
    take(bytes: Uint8Array): number {
      const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      const b = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      let [from, rows] = [0, 0]
      for (let lf = b.indexOf(NEWLINE); lf >= 0; lf = b.indexOf(NEWLINE, from)) {
        const to = lf > from && b[lf - 1] === CR ? lf - 1 : lf
        if (to === from) columns = undefined
        else if (columns === undefined) readHeader(b.toString('utf8', from, to))
        else {
          readRow(b, from, to)
          rows++
        }
        from = lf + 1
      }
      rest = from === b.length ? Buffer.alloc(0) : Buffer.from(b.subarray(from))
      return rows
    },
  }
}

/** The cells of one line; a quoted one may hold commas and doubled quotes. */
function splitCsv(line: string): string[] {
  const cells: string[] = []
  for (let i = 0; i <= line.length; ) {
    if (line.charCodeAt(i) !== QUOTE) {
      const end = line.indexOf(',', i)
      const to = end < 0 ? line.length : end
      cells.push(line.slice(i, to))
      i = to + 1
      continue
    }
    let to = line.indexOf('"', i + 1)
    while (line.charCodeAt(to + 1) === QUOTE) to = line.indexOf('"', to + 2)
    cells.push(line.slice(i + 1, to).replaceAll('""', '"'))
    i = to + 2
  }
  return cells
}
