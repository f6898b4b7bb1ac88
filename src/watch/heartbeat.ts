// Requests STINT_HEARTBEAT_URL once a minute while watches are evaluated: another service notices if Stint is down.
import type { Logger } from '../log.ts'
import { type PostOptions, pinnedPost } from '../notify/delivery/pinned-post.ts'

const TICK_MS = 5000
const EVERY_US = 60e6
const FRESH_US = 90e6

export interface HeartbeatOptions {
  readonly url: string
  readonly post: PostOptions
  nowUs(): number
  /** The end of the last round in which every store answered. */
  lastRoundUs(): number | undefined
  readonly log: Logger
}

export function createHeartbeat({ url, post, nowUs, lastRoundUs, log }: HeartbeatOptions) {
  let timer: Timer | undefined
  let sentUs = Number.NEGATIVE_INFINITY
  async function step(): Promise<void> {
    const last = lastRoundUs()
    const now = nowUs()
    if (last === undefined || now - last > FRESH_US || Math.abs(now - sentUs) < EVERY_US) return
    sentUs = now
    await pinnedPost(url, {}, '', post).catch((err: unknown) => log.warn({ err }, 'the heartbeat was not delivered'))
  }
  return {
    step,
    start() {
      timer = setInterval(() => void step(), TICK_MS)
    },
    stop: () => clearInterval(timer),
  }
}
