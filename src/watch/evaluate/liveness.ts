// Records when Stint could accept events: stored every few seconds, so that the next start knows how long it was down.
import type { Logger } from '../../log.ts'
import type { Blind } from '../rules/episode.ts'
import type { WatchStore } from '../storage/watch-store.ts'

const EVERY_MS = 10_000
/** A longer gap means that the machine or the process was suspended. */
const GAP_US = 3 * EVERY_MS * 1000
/** Callers retry for some time after a blind stretch: half of its length, at most this. */
const SETTLES_US = 30e6

export interface Liveness {
  /** All blind stretches, including a current one. */
  blind(nowUs: number): readonly Blind[]
  step(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

export interface LivenessOptions {
  readonly store: WatchStore
  nowUs(): number
  /** Are events accepted now? */
  accepts(): boolean
  /** With several nodes: since when at least one of them has always accepted events. Absent for a single process. */
  coveredSinceUs?(): number
  readonly log: Logger
}

export function createLiveness({ store, nowUs, accepts, coveredSinceUs, log }: LivenessOptions): Liveness {
  let past: readonly Blind[] = []
  let aliveUs = Number.NaN
  let timer: Timer | undefined

  /** Events are accepted since `sinceUs`. */
  async function note(sinceUs: number): Promise<void> {
    const now = nowUs()
    const settlesUs = Math.round(Math.min(SETTLES_US, (sinceUs - aliveUs) / 2))
    const blind = sinceUs > aliveUs ? { fromUs: aliveUs, toUs: sinceUs + settlesUs } : undefined
    await store.noteAlive({ aliveUs: now, ...(blind && { blind }) })
    if (blind) past = [...past, blind]
    aliveUs = now
  }

  let wasRefusing = false
  async function step(): Promise<void> {
    if (!accepts()) {
      wasRefusing = true // the stretch is stored when it is over; after a kill before that, the last good time is stored
      return
    }
    const isBlind = wasRefusing || nowUs() - aliveUs > GAP_US
    wasRefusing = false
    await note(coveredSinceUs?.() ?? (isBlind ? nowUs() : aliveUs))
  }

  return {
    blind: (now) => (wasRefusing ? [...past, { fromUs: aliveUs, toUs: now }] : past),
    step,
    async start() {
      const known = await store.alive()
      past = known.blind
      aliveUs = known.aliveUs === 0 ? nowUs() : known.aliveUs
      if (accepts()) await note(coveredSinceUs?.() ?? nowUs())
      else wasRefusing = true
      timer = setInterval(() => {
        step().catch((err: unknown) =>
          log.warn({ err }, 'watches: the time of the last sign of life could not be saved'),
        )
      }, EVERY_MS)
    },
    async stop() {
      clearInterval(timer)
      if (!Number.isNaN(aliveUs) && accepts()) await step()
    },
  }
}
