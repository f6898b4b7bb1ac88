// The desk where everything that asks the stores for an account waits for its turn: questions, exports, live's reads
// and previews of watches. A node runs sixteen at once (see Asks), the accounts in turns, and a few per account and
// lane. A question counts for its account until its answer has been sent: an account that does not read its answers
// holds the memory of a few, and no turn of others. Wait and work end before the socket's timeout (http/listen.ts), so
// that a slow question gets an answer that says so. Work never waits for another turn of the desk.
// Invariant: of each account in `loads` something runs or waits, and nothing waits that may begin.
import { Problem } from '../problem.ts'
import { StoreError } from '../store/source.ts'
import { tooSlow } from './limits.ts'

/** `export`: a place until its file has been read; each of its pages is a question. */
type Lane = 'question' | 'export' | 'live' | 'preview'

/** The stores that work asks. Of two, one that does not answer holds no place of what asks the other alone. */
type Asks = 'points' | 'exceptions' | 'both'

interface LaneLimits {
  /** Per account, running or waiting. */
  readonly maxAtOnce: number
  /** Per account; the others wait. One of several is kept for short questions. */
  readonly maxRunning: number
}

interface DeskLimits {
  readonly deadlineMs: number
  /** All accounts together. */
  readonly maxRunning: number
  readonly lanes: Readonly<Record<Lane, LaneLimits>>
}

export interface Reader {
  /** Aborts when the client is gone. */
  readonly left?: AbortSignal
  /** Resolves when the answer has been sent, or when nobody will read it. Absent: the answer is read at once. */
  readonly sent?: Promise<void>
}

interface Asked extends Reader {
  readonly lane?: Lane
  readonly asks?: Asks
  /** A short range: the question does not wait behind long ones. */
  readonly isShort?: boolean
  /** A part of something that is limited itself: it waits as long as it must, and has the whole time when it begins. */
  readonly isPart?: boolean
}

/** A few at once keep the store fully busy; twenty people with three questions each wait for them. */
export const DESK_LIMITS: DeskLimits = {
  deadlineMs: 45_000,
  maxRunning: 16,
  lanes: {
    question: { maxAtOnce: 68, maxRunning: 4 },
    export: { maxAtOnce: 2, maxRunning: 2 },
    live: { maxAtOnce: 68, maxRunning: 2 },
    preview: { maxAtOnce: 4, maxRunning: 1 }, // reads much
  },
}
/** Places of a node that are kept for short questions. */
const FOR_SHORT = 4
const RETRY_AFTER_S = 5

/** Places of the node that are taken. */
interface Places {
  all: number
  /** Those that long questions have. */
  long: number
  readonly byAccount: Map<string, number>
}

interface Turn {
  readonly isLong: boolean
  readonly places: Places
  begin(): void
}

/** An account's work in a lane. */
interface Load extends LaneLimits {
  readonly account: string
  readonly isExport: boolean
  running: number
  /** The long ones among the running. */
  long: number
  readonly waiting: Turn[]
}

const storeUnavailable = (cause: StoreError) =>
  new Problem('store_unavailable', 'The store did not answer the question. What was sent is safe: try again.', {
    retryAfterS: RETRY_AFTER_S,
    cause,
  })

/** The store's answer; a StoreError becomes a Problem. */
export async function ask<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (cause) {
    if (!(cause instanceof StoreError)) throw cause
    throw cause.isTooSlow ? tooSlow(cause) : storeUnavailable(cause)
  }
}

const TURN_TOO_LATE =
  'The question waited too long for those that ran before it, of the account or of others, or for their answers to ' +
  'be read.'

export type Desk = ReturnType<typeof createDesk>

/**
 * Does the work with a signal that aborts when its answer is not awaited any more: after the deadline, or when the
 * reader has left. The work counts until it ended and its answer was sent. Rejects with Problem `question_too_large`
 * after the deadline, `rate_limited` when it waited for half of it, and `store_unavailable` when the reader has left.
 * `isOneStore`: it holds points and exceptions, so that all work asks both.
 */
export function createDesk({ deadlineMs, maxRunning, lanes }: DeskLimits = DESK_LIMITS, isOneStore = false) {
  /** In the order of their next turns. */
  const loads = new Map<string, Load>()
  const taken = { points: createPlaces(), exceptions: createPlaces(), both: createPlaces() }
  const maxLong = Math.max(1, maxRunning - FOR_SHORT)

  /** The last place of the node is for an account that has none. */
  const hasPlace = ({ account }: Load, { isLong, places: { all, long, byAccount } }: Turn) =>
    all < maxRunning && !(isLong && long >= maxLong) && (all < maxRunning - 1 || !byAccount.has(account))
  const mayBegin = (load: Load, turn: Turn) =>
    load.running < load.maxRunning &&
    (load.isExport || (!(turn.isLong && load.long >= Math.max(1, load.maxRunning - 1)) && hasPlace(load, turn)))

  function count({ account, isExport }: Load, { isLong, places }: Turn, by: 1 | -1): void {
    if (isExport) return
    places.all += by
    if (isLong) places.long += by
    const own = (places.byAccount.get(account) ?? 0) + by
    if (own > 0) places.byAccount.set(account, own)
    else places.byAccount.delete(account)
  }

  /** Begins what may begin, one turn of each account after the other. */
  function next(): void {
    for (const [key, load] of loads) {
      const place = load.waiting.findIndex((turn) => mayBegin(load, turn))
      if (place < 0 && load.running + load.waiting.length > 0) continue
      loads.delete(key)
      if (place < 0) continue
      loads.set(key, load) // to the end of the line, where this loop comes to it again
      load.waiting.splice(place, 1)[0]!.begin()
    }
  }

  return async <T>(account: string, asked: Asked, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const { left, sent, lane = 'question', asks = 'both', isShort = false, isPart = false } = asked
    const key = `${lane} ${account}`
    const isExport = lane === 'export'
    const load = loads.get(key) ?? { ...lanes[lane], account, isExport, running: 0, long: 0, waiting: [] }
    if (load.running + load.waiting.length >= load.maxAtOnce && !isPart)
      throw new Problem('rate_limited', `An account may ask ${load.maxAtOnce} questions at once.`, { retryAfterS: 1 })
    loads.set(key, load)

    const stop = new AbortController()
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    let isLate = false
    let timer: Timer | undefined
    const tooLate = () => new Problem('rate_limited', TURN_TOO_LATE, { retryAfterS: RETRY_AFTER_S })
    const startTimer = () => {
      timer = setTimeout(() => giveUp(isLate && !isPart ? tooLate() : tooSlow()), deadlineMs)
    }
    const noteMade = () => {
      count(load, turn, -1)
      next()
    }
    const noteSent = () => {
      load.running--
      if (turn.isLong) load.long--
      next()
    }
    const turn: Turn = {
      isLong: !isShort,
      places: taken[isOneStore ? 'both' : asks],
      begin() {
        load.running++
        if (turn.isLong) load.long++
        count(load, turn, 1)
        if (isPart) startTimer()
        const answer = Promise.try(work, stop.signal)
        answer.then(resolve, reject)
        void answer.then(noteMade, noteMade)
        void answer.then(() => sent, noop).then(noteSent)
      },
    }
    const giveUp = (problem: Problem) => {
      stop.abort()
      const place = load.waiting.indexOf(turn)
      if (place >= 0) load.waiting.splice(place, 1)
      reject(problem)
      next()
    }
    const leave = () => giveUp(storeUnavailable(new StoreError('the client is gone')))
    const half = setTimeout(() => (isLate = load.waiting.includes(turn)), deadlineMs / 2)
    if (!isPart) startTimer()
    load.waiting.push(turn)
    next()
    if (left?.aborted) leave()
    left?.addEventListener('abort', leave)
    try {
      return await promise
    } finally {
      clearTimeout(half)
      clearTimeout(timer)
      left?.removeEventListener('abort', leave)
    }
  }
}

const createPlaces = (): Places => ({ all: 0, long: 0, byAccount: new Map() })
const noop = () => {}
