// Requests STINT_HEARTBEAT_URL once a minute while watches are judged: another service notices if they are not.
import type { Logger } from '../log.ts'
import { type PostOptions, pinnedPost } from '../notify/delivery/pinned-post.ts'

const TICK_MS = 5000
const EVERY_US = 60e6
const FRESH_US = 60e6

interface HeartbeatOptions {
  readonly url: string
  readonly post: PostOptions
  nowUs(): number
  /** How far the watches are judged; undefined if another node judges them. */
  judgedUs(): number | undefined
  readonly log: Logger
}

export function createHeartbeat({ url, post, nowUs, judgedUs, log }: HeartbeatOptions) {
  let timer: Timer | undefined
  let sentUs = Number.NEGATIVE_INFINITY
  async function step(): Promise<void> {
    const last = judgedUs()
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
