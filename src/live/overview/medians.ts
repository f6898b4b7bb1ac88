// The median durations of the last day and of the week before it, by closed hours, asked at most once an hour. Answers
// before they are known go without them.
import type { Logger } from '../../log.ts'
import type { PointSource, TimingSummaryRow } from '../../store/source.ts'
import { indexInTurns } from '../../turns.ts'
import { HOUR_US } from '../hours.ts'

export interface Medians {
  /** The medians of a process, or of one of its metas. */
  of(process: string, meta?: string | null): { median_24h_ms: number | null; median_7d_ms: number | null }
}

interface MediansOptions {
  readonly points: Pick<PointSource, 'summarizeTimings'>
  inTurn<T>(account: string, work: (signal: AbortSignal) => Promise<T>): Promise<T>
  readonly maxRunUs: number
  readonly log: Logger
}

const [DAY_US, WEEK_US] = [24 * HOUR_US, 7 * 24 * HOUR_US]
/** Fewer runs before say nothing about what is usual. */
const FEWEST_BEFORE = 3
const ROWS_MAX = 100_000
const KEPT = 200
/** The longest that an answer waits for the first medians. */
const WAIT_MS = 1_500

const keyOf = (process: string, meta: string | null | undefined): string =>
  meta === undefined ? process : `${process}\0${meta ?? ''}`

type Figures = ReadonlyMap<string, { readonly ms: number | null; readonly count: number }>
interface Read {
  readonly day: Figures
  readonly week: Figures
}
const NOTHING: Read = { day: new Map(), week: new Map() }

export function createMedians({ points, inTurn, maxRunUs, log }: MediansOptions) {
  const kept = new Map<string, { readonly hour: number; read: Read; reading: Promise<void> | undefined }>()

  async function summarize(account: string, process: string | undefined, toUs: number, signal: AbortSignal) {
    const toNs = (us: number) => BigInt(us) * 1000n
    const ask = (fromUs: number, untilUs: number, byMeta: boolean) =>
      points.summarizeTimings({
        account,
        signal,
        byMeta,
        fromNs: toNs(fromUs),
        toNs: toNs(untilUs),
        nowNs: toNs(toUs),
        maxRunNs: toNs(maxRunUs),
        maxRows: ROWS_MAX,
        ...(process !== undefined && { process }),
      })
    const of = async (fromUs: number, untilUs: number): Promise<Figures> => {
      const rows = await Promise.all(
        (process === undefined ? [false] : [false, true]).map((byMeta) => ask(fromUs, untilUs, byMeta)),
      )
      return indexInTurns(rows.flat(), (row) => [keyOf(row.process, row.meta), toFigure(row)])
    }
    const dayUs = toUs - DAY_US
    return { day: await of(dayUs, toUs), week: await of(dayUs - WEEK_US, dayUs) }
  }

  return {
    /** The medians of all processes, or of one with its metas. */
    async find(account: string, process: string | undefined, nowUs: number): Promise<Medians> {
      const key = JSON.stringify([account, process])
      const hour = Math.floor(nowUs / HOUR_US)
      const known = kept.get(key)
      if (known?.hour !== hour) {
        const made = { hour, read: known?.read ?? NOTHING, reading: undefined as Promise<void> | undefined }
        made.reading = inTurn(account, (signal) => summarize(account, process, hour * HOUR_US, signal)).then(
          (read) => {
            made.read = read
            made.reading = undefined
          },
          (err: unknown) => {
            log.debug({ err, account }, 'medians are not known')
            made.reading = undefined
          },
        )
        kept.delete(key)
        kept.set(key, made)
        if (kept.size > KEPT) kept.delete(kept.keys().next().value!)
      }
      const one = kept.get(key)!
      if (one.reading !== undefined && one.read === NOTHING) await within(one.reading, WAIT_MS)
      const { day, week } = one.read
      return {
        of(process, meta) {
          const [today, before] = [day.get(keyOf(process, meta)), week.get(keyOf(process, meta))]
          const isKnown = before !== undefined && before.count >= FEWEST_BEFORE
          return { median_24h_ms: today?.ms ?? null, median_7d_ms: isKnown ? before.ms : null }
        },
      }
    },
    forget(account: string): void {
      for (const key of kept.keys()) if (key.startsWith(`[${JSON.stringify(account)}`)) kept.delete(key)
    },
  }
}

const toFigure = ({ p50Ms: ms, count }: TimingSummaryRow) => ({ ms, count })

async function within(work: Promise<void>, ms: number): Promise<void> {
  let timer: Timer | undefined
  const wait = new Promise<void>((done) => {
    timer = setTimeout(done, ms)
  })
  await Promise.race([work, wait])
  clearTimeout(timer)
}
