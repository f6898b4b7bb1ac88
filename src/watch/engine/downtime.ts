// Records when Stint could accept events: stored every few seconds, so the next start knows how long it was down. A
// paused process, a frozen machine or a clock that jumps ahead is downtime, too. Times are those of the stamp clock.
import type { Logger } from '../../log.ts'
import { Problem } from '../../problem.ts'
import { SETTLES_US } from '../log/episode.ts'
import type { WatchStore } from '../storage/create-watch-store.ts'

/** Longer than between two commits of the judge, which store the sign of life with what they have. */
const EVERY_US = 20e6
/** `notice` is called at least once a second; after a longer gap the process was paused or the clock was moved. */
const GAP_US = 5e6

/** A stretch in which Stint was down or accepted no events, so that events may be lost. */
interface Blind {
  readonly fromUs: number
  readonly toUs: number
}

export interface DowntimeOptions {
  readonly store: Pick<WatchStore, 'alive' | 'noteAlive'>
  /** The stamp clock. */
  nowUs(): number
  monotonicUs(): number
  /** Are events accepted now? */
  accepts(): boolean
  /** The arrival of the newest event of earlier runs; 0 if there was none. */
  lastArrivalUs(): number
  /** With several nodes: since when at least one of them has always accepted events. Absent for a single process. */
  coveredSinceUs?(): number
  /** Called with each downtime once it is over; its end includes the time in which callers try again. */
  onDowntime(blind: Blind): void
  readonly log: Logger
}

export function createDowntimeLog(options: DowntimeOptions) {
  const { store, nowUs, monotonicUs, accepts, coveredSinceUs, onDowntime, log } = options
  /** Events were accepted until then. */
  let aliveUs = Number.NaN
  let noticed: { readonly us: number; readonly monotonicUs: number } | undefined
  let unsaved: readonly Blind[] = []
  let isRefusing = false
  /** Monotonic: when this process started, and when its sign of life was last stored. */
  let [bornUs, savedUs] = [0, 0]
  /** One write at a time: PostgreSQL may be slow. */
  let saving: Promise<void> | undefined

  /** Events are accepted again since `sinceUs`. */
  function endDowntime(fromUs: number, sinceUs: number): void {
    if (sinceUs <= fromUs) return
    const blind = { fromUs: Math.round(fromUs), toUs: Math.round(sinceUs + SETTLES_US) }
    unsaved = [...unsaved, blind]
    onDowntime(blind)
  }

  /** Call it before each judgement: notices a pause of the process, and a clock that jumped ahead. */
  function notice(): void {
    if (Number.isNaN(aliveUs)) return
    const now = { us: nowUs(), monotonicUs: monotonicUs() }
    const gapUs = noticed ? Math.max(now.us - noticed.us, now.monotonicUs - noticed.monotonicUs) : 0
    if (gapUs > GAP_US && !isRefusing && coveredSinceUs === undefined) endDowntime(now.us - gapUs, now.us)
    noticed = now
  }

  /** The sign of life of a young process is stored more often, so that kills leave little of its life in doubt. */
  const isSaved = () => monotonicUs() - savedUs < Math.min(EVERY_US, (savedUs - bornUs) / 4)

  async function step(isLast = false): Promise<void> {
    notice()
    if (!accepts()) {
      isRefusing = true // the stretch is stored when it ends; a kill before that leaves the last good time
      return
    }
    const sinceUs = coveredSinceUs?.() ?? (isRefusing ? nowUs() : aliveUs)
    isRefusing = false
    endDowntime(aliveUs, sinceUs)
    aliveUs = Math.max(aliveUs, nowUs())
    if (!isLast && (saving !== undefined || isSaved())) return
    if (saving !== undefined) await saving.catch(() => {}) // reported where it began
    savedUs = monotonicUs()
    const blind = unsaved
    saving = store.noteAlive({ aliveUs: Math.floor(aliveUs), blind }).finally(() => {
      saving = undefined
    })
    await saving
    unsaved = unsaved.filter((it) => !blind.includes(it))
  }

  return {
    notice,
    step: () => step(),
    /** For a commit of the judge; undefined if the next step has more to store. */
    toStoreUs: (): number | undefined =>
      isRefusing || unsaved.length > 0 || Number.isNaN(aliveUs) ? undefined : Math.floor(aliveUs),
    noteStored(): void {
      savedUs = monotonicUs()
    },
    /** A downtime that lasts: the spool refuses events. */
    current: (): Blind | undefined =>
      isRefusing && !Number.isNaN(aliveUs) ? { fromUs: Math.round(aliveUs), toUs: Math.round(nowUs()) } : undefined,
    /** Reports the downtimes that are stored, and the one that ends now. */
    async start(): Promise<void> {
      const known = await store.alive()
      for (const blind of known.blind) onDowntime(blind)
      aliveUs = known.aliveUs === 0 ? nowUs() : Math.max(known.aliveUs, options.lastArrivalUs())
      isRefusing = known.aliveUs > 0 // a first start had nothing to accept before
      bornUs = savedUs = monotonicUs()
      await step().catch((err: unknown) => {
        if (!isDiskProblem(err)) throw err
        log.warn({ err }, 'watches: the disk filled during the start; the downtime is saved when there is room')
      })
    },
    async stop(): Promise<void> {
      if (!Number.isNaN(aliveUs) && accepts()) await step(true)
    },
  }
}

const isDiskProblem = (err: unknown): boolean =>
  err instanceof Problem && (err.code === 'disk_low' || err.code === 'disk_failed')
