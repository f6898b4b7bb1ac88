// Records when Stint could accept events: stored every few seconds, so the next start knows how long it was down. A
// paused process, a frozen machine or a clock that jumps ahead is downtime too, noticed before anything is judged.
import type { Logger } from '../../log.ts'
import { Problem } from '../../problem.ts'
import type { Blind, Rewind } from '../rules/episode.ts'
import type { WatchStore } from '../storage/create-watch-store.ts'

const EVERY_US = 10e6
const TICK_MS = 1000
/** `notice` is called twice a second; after a longer gap the process was paused. */
const GAP_US = 5e6
/** A wall clock that loses more was set back; less is waited out. Clocks of nodes may differ by the second. */
const REWIND_US = 5e6
const SKEW_US = 60e6
/** After a start what has these times may be from before. */
const START_US = 2e6
/** Callers retry for some time after a blind stretch: half of its length, at most this. */
const SETTLES_US = 30e6

export type Liveness = ReturnType<typeof createLiveness>

export interface LivenessOptions {
  readonly store: WatchStore
  nowUs(): number
  monotonicUs(): number
  /** Are events accepted now? */
  accepts(): boolean
  /** With several nodes: since when at least one of them has always accepted events. Absent for a single process. */
  coveredSinceUs?(): number
  /** A longer time between two calls of `notice` is a pause. */
  readonly gapUs?: number
  readonly log: Logger
}

export function createLiveness(options: LivenessOptions) {
  const { store, nowUs, monotonicUs, accepts, coveredSinceUs, gapUs = GAP_US, log } = options
  let past: readonly Blind[] = []
  /** Events were accepted until then: as stored, and as known. */
  let aliveUs = Number.NaN
  let noticed: ReturnType<typeof readClocks> | undefined
  let unsaved: readonly Blind[] = []
  let unsavedRewinds: readonly Rewind[] = []
  let rewind: Rewind | undefined
  let rewinds: readonly Rewind[] = []
  let wasRefusing = false
  /** Monotonic: when this process started, and when its sign of life was last stored. */
  let [bornUs, savedUs] = [0, 0]
  /** One write at a time: PostgreSQL may be slow. */
  let saving: Promise<void> | undefined
  let timer: Timer | undefined

  /** Stretches are stored in whole µs. */
  const wholeUs = () => Math.round(monotonicUs())
  /** A pause between two readings is no step: the monotonic clock is read on both sides. */
  const readClocks = () => ({ fromUs: wholeUs(), wallUs: nowUs(), toUs: wholeUs() })

  /** Events are accepted again since `sinceUs`. */
  function endBlind(fromUs: number, sinceUs: number, isJump = false): void {
    if (sinceUs <= fromUs) return
    const settlesUs = Math.round(Math.min(SETTLES_US, (sinceUs - fromUs) / 2))
    const blind = { fromUs, toUs: sinceUs + settlesUs, ...(isJump && { isJump }) }
    past = [...past, blind]
    unsaved = [...unsaved, blind]
  }

  function beginRewind(untilUs: number, sinceUs: number): void {
    rewind = { sinceUs, untilUs }
    if (!rewinds.some((it) => it.untilUs === untilUs)) unsavedRewinds = [...unsavedRewinds, rewind]
    const now = nowUs()
    aliveUs = Math.min(aliveUs, now)
    past = past.filter(({ toUs }) => toUs <= now)
    savedUs = Number.NEGATIVE_INFINITY // a start soon after it must know what was downtime
    log.warn({ back_s: (untilUs - now) / 1e6 }, 'the clock was set back; watches are judged again from now on')
  }

  /**
   * Call it before each judgement: notices a pause of the process, and a clock that was set back. Returns the time that
   * it saw: a pause that begins before the next reading of the clock makes nothing late.
   */
  function notice(): number {
    if (Number.isNaN(aliveUs)) return nowUs()
    const now = readClocks()
    // a frozen machine may stop the monotonic clock, a wall clock that is set back hides a pause
    const wallGapUs = now.wallUs - (noticed?.wallUs ?? now.wallUs)
    const monotonicGapUs = noticed === undefined ? 0 : now.fromUs - noticed.toUs
    if (noticed && monotonicGapUs - wallGapUs > REWIND_US)
      beginRewind(noticed.wallUs + monotonicGapUs, now.wallUs - monotonicGapUs)
    const pausedUs = Math.max(wallGapUs, monotonicGapUs)
    if (pausedUs > gapUs && !wasRefusing && coveredSinceUs === undefined)
      endBlind(now.wallUs - pausedUs, now.wallUs, now.toUs - (noticed?.fromUs ?? now.toUs) <= gapUs)
    noticed = now
    return now.wallUs
  }

  /** The sign of life of a young process is stored more often, so that kills leave little of its life in doubt. */
  const isSaved = () => monotonicUs() - savedUs < Math.min(EVERY_US, (savedUs - bornUs) / 4)

  async function step(isLast = false): Promise<void> {
    notice()
    if (!accepts()) {
      wasRefusing = true // the stretch is stored when it ends; a kill before that leaves the last good time
      return
    }
    const sinceUs = coveredSinceUs?.() ?? (wasRefusing ? nowUs() : aliveUs)
    wasRefusing = false
    endBlind(aliveUs, sinceUs)
    aliveUs = nowUs()
    if (!isLast && (saving !== undefined || isSaved())) return
    if (saving !== undefined) await saving.catch(() => {}) // reported where it began
    savedUs = monotonicUs()
    const [blind, back] = [unsaved, unsavedRewinds]
    saving = store.noteAlive({ aliveUs, blind, rewinds: back }).finally(() => {
      saving = undefined
    })
    await saving
    unsaved = unsaved.filter((it) => !blind.includes(it))
    unsavedRewinds = unsavedRewinds.filter((it) => !back.includes(it))
  }

  return {
    /** The last time the clock was set back, as this process noticed it. */
    rewind: () => rewind,
    /** The times that it was set back during earlier processes. */
    rewinds: () => rewinds,
    /** All blind stretches, including a current one. */
    blind: (now: number): readonly Blind[] => (wasRefusing ? [...past, { fromUs: aliveUs, toUs: now }] : past),
    notice,
    step: () => step(),
    async start(): Promise<void> {
      const known = await store.alive()
      past = known.blind
      rewinds = known.rewinds
      aliveUs = known.aliveUs === 0 ? nowUs() : known.aliveUs
      const usedUs = Math.max(aliveUs, ...rewinds.map(({ untilUs }) => untilUs))
      const isRepeated = rewinds.some(({ untilUs }) => untilUs > nowUs() + START_US)
      if (isRepeated || usedUs - nowUs() > (coveredSinceUs === undefined ? REWIND_US : SKEW_US))
        beginRewind(usedUs, nowUs() + START_US)
      rewinds = rewinds.map((it) => ({ ...it, untilUs: Math.min(it.untilUs, nowUs() + START_US) }))
      wasRefusing = true
      bornUs = savedUs = monotonicUs()
      await step().catch((err: unknown) => {
        if (!isDiskProblem(err)) throw err
        log.warn({ err }, 'watches: the disk filled during the start; the downtime is saved when there is room')
      })
      timer = setInterval(() => {
        step().catch((err: unknown) =>
          log.warn({ err }, 'watches: the time of the last sign of life could not be saved'),
        )
      }, TICK_MS)
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      if (!Number.isNaN(aliveUs) && accepts()) await step(true)
    },
  }
}

const isDiskProblem = (err: unknown): boolean =>
  err instanceof Problem && (err.code === 'disk_low' || err.code === 'disk_failed')
