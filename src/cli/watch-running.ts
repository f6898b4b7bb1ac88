// `stint running --watch`: asks again and again. A terminal shows the latest answer in place; other output gets
// changes.
import type { Timing } from '../wire/timings.ts'
import { createApi } from './api.ts'
import { checkFormat, eachRow, type OutputOptions, tableOf } from './ask-question.ts'
import { cutToWidth } from './format-rows.ts'
import { formatDuration, formatLocalTime } from './format-time.ts'
import { CliError, type Io } from './io.ts'
import { createPaint, oneLine, safeJson } from './safe-text.ts'
import { runningView, stateCell } from './timing-view.ts'

interface Watch {
  readonly io: Io
  /** All runs in progress. Throws CliError. */
  findRunning(): Promise<readonly Timing[]>
  /** The settled form of a run that is no longer in progress; undefined if it is not found. Throws CliError. */
  findSettled(timing: Timing): Promise<Timing | undefined>
  nowMs(): number
  /** Aborts the watch. */
  readonly signal: AbortSignal
}

const EVERY_MS = 2000
const ENTER_SCREEN = '\u001b[?1049h\u001b[?25l'
const LEAVE_SCREEN = '\u001b[?25h\u001b[?1049l'
const HOME = '\u001b[H'
const CLEAR_LINE = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'

/** Resolves at Ctrl-C. Rejects if the first question fails; a later one may fail and is asked again. */
export async function watchRunning(
  io: Io,
  parameters: URLSearchParams,
  options: OutputOptions,
  nowMs: () => number,
): Promise<void> {
  checkFormat(options)
  const api = createApi(io)
  const find = async (query: URLSearchParams) =>
    (await Array.fromAsync(eachRow(api, '/api/timings', 'timings', query))) as unknown as Timing[]
  const interrupted = new AbortController()
  const { signal } = interrupted
  const end = () => interrupted.abort()
  process.on('SIGINT', end).on('SIGTERM', end)
  const watch: Watch = {
    io,
    findRunning: async () => (await find(parameters)).toReversed(), // the oldest first
    async findSettled({ process, meta, uid, started_at }) {
      const same = { process, meta: meta ?? '', uid: uid ?? '', from: started_at ?? '' }
      return (await find(new URLSearchParams(same))).find((timing) => timing.started_at === started_at)
    },
    nowMs,
    signal,
  }
  await (io.stdout.isTTY && !options.json ? watchOnTerminal(watch) : watchChanges(watch, options.json === true))
  if (signal.aborted) io.exit(0) // a question may be under way
}

async function watchOnTerminal(watch: Watch): Promise<void> {
  const { io, findRunning, nowMs, signal } = watch
  const first = await unlessAborted(findRunning(), signal)
  if (first === undefined) return
  io.stdout.write(ENTER_SCREEN)
  try {
    let running = first
    let trouble = ''
    for (;;) {
      io.stdout.write(frame(io, running, trouble, nowMs()))
      if (!(await pause(signal))) return
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

/** Never larger than the screen, so that nothing scrolls. */
function frame(io: Io, running: readonly Timing[], trouble: string, nowMs: number): string {
  const { columns: width = 80, rows: height = 24 } = io.stdout
  const state = trouble === '' ? `${running.length} running` : oneLine(trouble)
  const head = cutToWidth(`${timeOfDay(nowMs).slice(0, 8)}  ${state}`, width)
  const view = runningView(() => nowMs)
  const table = running.length === 0 ? [view.empty] : tableOf(io, view, running).trimEnd().split('\n')
  const room = height - 3
  const shown = table.length <= room ? table : [...table.slice(0, room - 1), `… ${table.length - room + 1} more`]
  return HOME + [head, '', ...shown].map((line) => `${line}${CLEAR_LINE}\r\n`).join('') + CLEAR_BELOW
}

/** Prints a line when a run begins and when it settles; with `isJson` the timing itself. */
async function watchChanges({ io, findRunning, findSettled, nowMs, signal }: Watch, isJson: boolean): Promise<void> {
  const known = new Map<string, Timing>()
  let isFirst = true
  let trouble = ''
  const print = (timing: Timing) => io.stdout.write(`${isJson ? safeJson(timing) : describe(io, timing, nowMs())}\n`)

  async function look(): Promise<void> {
    const running = new Map((await findRunning()).map((timing) => [keyOf(timing), timing]))
    for (const [key, timing] of [...known].filter(([key]) => !running.has(key))) {
      const settled = await findSettled(timing)
      if (settled !== undefined) print(settled)
      known.delete(key)
    }
    for (const [key, timing] of [...running].reverse()) {
      if (!known.has(key)) print(timing)
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
  } while (!signal.aborted && (await pause(signal)))
}

const keyOf = ({ process, meta, uid, started_at }: Timing) => JSON.stringify([process, meta, uid, started_at])
const timeOfDay = (ms: number) => formatLocalTime(new Date(ms).toISOString()).slice(11)

/** `21:52:42.171  failed after 1.24 s · 1 exception  nightly import  region eu  3f2a9c1e` */
function describe(io: Io, timing: Timing, nowMs: number): string {
  const { process, meta, uid, state, duration_ms, exceptions } = timing
  const length = duration_ms === null ? '' : ` after ${formatDuration(duration_ms)}`
  const raised = exceptions ? ` · ${exceptions} ${exceptions === 1 ? 'exception' : 'exceptions'}` : ''
  const shown = createPaint(io)(oneLine(`${state}${length}${raised}`), stateCell(timing).style)
  const who = [process, meta, uid].filter((text) => text !== null).map(oneLine)
  return [timeOfDay(nowMs), shown, ...who].join('  ')
}

function messageOf(error: unknown): string {
  if (error instanceof CliError) return error.message
  throw error
}

/** False if the signal aborts first. */
async function pause(signal: AbortSignal): Promise<boolean> {
  await unlessAborted(Bun.sleep(EVERY_MS), signal)
  return !signal.aborted
}

/** Undefined if the signal aborts first; the work itself continues unobserved. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return Promise.resolve(undefined)
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const onAbort = () => resolve(undefined)
  signal.addEventListener('abort', onAbort, { once: true })
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', onAbort))
}
