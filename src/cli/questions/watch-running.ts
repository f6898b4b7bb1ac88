// `stint running --watch`: asks again and again. A terminal shows the latest answer in place; anything else gets a line for each change.
import { formatDuration } from '../format-duration.ts'
import { CliError, type Io } from '../io.ts'
import { formatLocalTime } from '../local-time.ts'
import { oneLine, safeJson } from '../one-line.ts'
import { cutToWidth } from '../text-table.ts'
import { tableOf } from './question-command.ts'
import { runningShape, type Timing } from './timing-shape.ts'

export interface WatchDeps {
  readonly io: Io
  /** All that are running. Throws CliError. */
  findRunning(): Promise<readonly Timing[]>
  /** What became of one that no longer runs; undefined when that cannot be found. Throws CliError. */
  findSettled(timing: Timing): Promise<Timing | undefined>
  nowMs(): number
  readonly everyMs: number
  /** Ends it. */
  readonly signal: AbortSignal
}

const ENTER_SCREEN = '\u001b[?1049h\u001b[?25l'
const LEAVE_SCREEN = '\u001b[?25h\u001b[?1049l'
const HOME = '\u001b[H'
const CLEAR_LINE = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'

/** Resolves when the signal aborts. Rejects when the first question fails; a later one may fail and be asked again. */
export async function watchOnTerminal(deps: WatchDeps): Promise<void> {
  const { io, findRunning, nowMs, signal } = deps
  const first = await unlessAborted(findRunning(), signal)
  if (first === undefined) return
  io.stdout.write(ENTER_SCREEN)
  try {
    let running = first
    let trouble = ''
    for (;;) {
      io.stdout.write(frame(io, running, trouble, nowMs()))
      if (!(await pause(deps))) return
      try {
        running = (await unlessAborted(findRunning(), signal)) ?? running
        trouble = ''
      } catch (error) {
        trouble = messageOf(error)
      }
      if (signal.aborted) return
    }
  } finally {
    io.stdout.write(LEAVE_SCREEN)
  }
}

/** As large as the screen, so that nothing scrolls. */
function frame(io: Io, running: readonly Timing[], trouble: string, nowMs: number): string {
  const { columns: width = 80, rows: height = 24 } = io.stdout
  const state = trouble === '' ? `${running.length} running` : oneLine(trouble)
  const head = cutToWidth(`${formatLocalTime(new Date(nowMs).toISOString()).slice(11, 19)}  ${state}`, width)
  const shape = runningShape(() => nowMs)
  const table = running.length === 0 ? [shape.nothing] : tableOf(io, shape, running).trimEnd().split('\n')
  const room = height - 3
  const shown = table.length <= room ? table : [...table.slice(0, room - 1), `… ${table.length - room + 1} more`]
  return HOME + [head, '', ...shown].map((line) => `${line}${CLEAR_LINE}\r\n`).join('') + CLEAR_BELOW
}

/** One line for each that begins or no longer runs: as JSON the timing itself, as it then is. Resolves and rejects as above. */
export async function watchChanges(deps: WatchDeps, isJson: boolean): Promise<void> {
  const { io, findRunning, findSettled, nowMs, signal } = deps
  const known = new Map<string, Timing>()
  let isFirst = true
  let trouble = ''
  const tell = (timing: Timing) => io.stdout.write(isJson ? `${safeJson(timing)}\n` : `${describe(timing, nowMs())}\n`)

  async function look(): Promise<void> {
    const running = new Map((await findRunning()).map((timing) => [keyOf(timing), timing]))
    for (const [key, timing] of [...known].filter(([key]) => !running.has(key))) {
      const settled = await findSettled(timing)
      if (settled !== undefined) tell(settled)
      known.delete(key)
    }
    for (const [key, timing] of [...running].reverse()) {
      if (!known.has(key)) tell(timing)
      known.set(key, timing)
    }
  }

  do {
    try {
      await unlessAborted(look(), signal)
      trouble = ''
    } catch (error) {
      if (isFirst) throw error
      const message = messageOf(error)
      if (message !== trouble) io.stderr.write(`stint: ${oneLine(message)}\n`)
      trouble = message
    }
    isFirst = false
  } while (!signal.aborted && (await pause(deps)))
}

const keyOf = ({ process, meta, uid, started_at }: Timing) => JSON.stringify([process, meta, uid, started_at])

/** `21:52:42.171  completed after 1.24 s  nightly import  region eu  3f2a9c1e` */
function describe({ process, meta, uid, state, duration_ms }: Timing, nowMs: number): string {
  const what = duration_ms === null ? state : `${state} after ${formatDuration(duration_ms)}`
  const who = [process, meta, uid].filter((text) => text !== null).map(oneLine)
  return [formatLocalTime(new Date(nowMs).toISOString()).slice(11), what, ...who].join('  ')
}

function messageOf(error: unknown): string {
  if (error instanceof CliError) return error.message
  throw error
}

/** False when the signal aborted meanwhile. */
async function pause({ everyMs, signal }: WatchDeps): Promise<boolean> {
  await unlessAborted(Bun.sleep(everyMs), signal)
  return !signal.aborted
}

/** Undefined when the signal aborts first: what is under way is left alone. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return Promise.resolve(undefined)
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const onAbort = () => resolve(undefined)
  signal.addEventListener('abort', onAbort, { once: true })
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', onAbort))
}
