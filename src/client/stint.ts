// `@stint/client`: times runs of the caller's code and sends marks, metrics and exceptions to Stint in the background.
// Nothing here throws into the caller or makes it wait; what cannot be sent is retried, kept within bounds, and
// reported through `onDrop` when it is given up.
import { AsyncLocalStorage } from 'node:async_hooks'
import { toUid } from '../wire/run-id.ts'
import { openBacklog } from './backlog.ts'
import type { MarkOptions, Run, Stint, StintOptions, Subject, Unconfirmed } from './declarations/stint.d.ts'
import { createEventTimes } from './event-times.ts'
import { sendAtExit } from './exit.ts'
import { type KeptEvents, keepEvents } from './kept-events.ts'
import { createOutbox, type Outbox } from './outbox.ts'
import { post } from './post.ts'
import { createReport } from './report.ts'
import { readSettings } from './settings.ts'

const REQUEST_TIMEOUT_MS = 10_000
const MAX_PROCESS = 250
const MAX_META = 500
const MAX_EXCEPTION = 15_000
const OUTPUT_TAIL = 4096
/** Runs that the end of the process ends: a caller that never ends its runs must not fill the memory. */
const MAX_OPEN_RUNS = 10_000

/** Reads the environment now; what is missing or wrong makes a client that only reports it. */
export function createStint(options: StintOptions = {}): Stint {
  const settings = readSettings(options)
  const { url, key, headers, fault, backlogHomes, onDrop, exitLimits } = settings
  const nextTime = createEventTimes()
  const scope = new AsyncLocalStorage<Run>()
  const report = createReport(onDrop)
  const openRuns = new Set<Run>()

  let kept: KeptEvents | undefined
  /** Events that will never be stored, and how many of them `flush` has told. */
  let [dropped, told] = [0, 0]
  let outbox: Outbox | undefined

  /** The first event makes it: a client that is never used opens nothing. */
  function openOutbox(): Outbox {
    if (backlogHomes !== undefined) kept = keepEvents(openBacklog(backlogHomes, url, key), report.warn)
    const all = { ...headers, 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const address = `${url}/v1/batch`
    const send = (body: Uint8Array) => post(address, all, body, REQUEST_TIMEOUT_MS)
    const made = createOutbox(settings, send, kept, drop, report.warn)
    sendAtExit({
      outbox: made,
      limits: exitLimits,
      endRuns(error) {
        for (const run of [...openRuns].reverse()) error === undefined ? run.end() : run.fail(error)
      },
      close(limits, { post: postNow, sleep }) {
        const sendNow = (body: Uint8Array, timeoutMs: number) => postNow(address, all, body, timeoutMs)
        report.close(() => made.leave(limits, sendNow, sleep))
        kept?.close()
      },
    })
    return made
  }

  function drop(line: string, reason: string, unconfirmed?: Unconfirmed): void {
    dropped++
    report.drop(line, reason, unconfirmed)
  }

  function send(kind: string, read: () => Readonly<Record<string, unknown>>): void {
    try {
      const fields = read()
      const body = JSON.stringify({ ...fields, at: nextTime() })
      if (fault !== undefined) {
        dropped++
        report.warn(`${fault}; nothing is sent`)
      } else if (!fields.process) drop(`{"kind":"${kind}",${body.slice(1)}`, 'it has no process')
      else {
        outbox ??= openOutbox()
        outbox.add(kind, body)
      }
    } catch (error) {
      drop(`{"kind":"${kind}"}`, `it cannot be written as JSON: ${error}`)
    }
  }

  /** Absent fields stay absent in JSON. */
  const mark = (process: string, options?: MarkOptions) => ({
    process: fit(process, MAX_PROCESS),
    meta: fit(options?.meta, MAX_META),
    uid: options?.uid === undefined ? undefined : toUid(`${options.uid}`),
  })

  /** A subject that names another process than the run's has nothing of the run. */
  function subjectOf(given?: Subject) {
    const run = scope.getStore()
    const process = given?.process ?? run?.process ?? ''
    return mark(process, process === run?.process ? { ...run, ...given } : given)
  }

  function begin(process: string, options?: MarkOptions): Run {
    const uid = toUid(`${options?.uid ?? crypto.randomUUID()}`)
    const meta = options?.meta
    const fields = mark(process, { meta, uid })
    let reported: unknown
    let said = ''
    let isOver = false
    const finish = (failed?: true) => {
      if (!isOver) send('end', () => ({ ...fields, failed, output: endOf(said) }))
      isOver = true
      openRuns.delete(run)
    }
    const run: Run = {
      process,
      meta,
      uid,
      metrics: (items) => send('metrics', () => ({ ...fields, items })),
      exception(error) {
        if (error === reported && error !== undefined) return
        reported = error
        send('exception', () => ({ ...fields, exception: textOf(error) }))
      },
      output(text) {
        said = `${said}${text}`.slice(-2 * OUTPUT_TAIL)
      },
      fail(error) {
        if (error !== undefined && !isOver) run.exception(error)
        finish(true)
      },
      end: () => finish(),
      [Symbol.dispose]: () => finish(),
    }
    send('start', () => fields)
    openRuns.add(run)
    if (openRuns.size > MAX_OPEN_RUNS) openRuns.delete(openRuns.values().next().value!)
    return run
  }

  return {
    run<T>(process: string, ...rest: [(run: Run) => T] | [MarkOptions, (run: Run) => T]): T {
      const work = rest.at(-1) as (run: Run) => T
      const run = begin(process, rest.length > 1 ? (rest[0] as MarkOptions) : {})
      const failed = (error: unknown): never => {
        run.fail(error ?? 'failed without an error')
        throw error
      }
      const ended = <V>(value: V): V => {
        run.end()
        return value
      }
      try {
        const result = scope.run(run, work, run)
        if (typeof (result as PromiseLike<unknown> | undefined)?.then === 'function')
          return (result as unknown as PromiseLike<unknown>).then(ended, failed) as T
        return ended(result)
      } catch (error) {
        return failed(error)
      }
    },
    begin,
    start: (process, options) => send('start', () => mark(process, options)),
    end: (process, options) =>
      send('end', () => ({
        ...mark(process, options),
        failed: options?.failed || undefined,
        output: endOf(options?.output),
      })),
    metrics: (items, subject) => send('metrics', () => ({ ...subjectOf(subject), items })),
    exception: (error, subject) => send('exception', () => ({ ...subjectOf(subject), exception: textOf(error) })),
    async flush(withinMs = 5000) {
      const before = told
      const isSettled = (await outbox?.flush(withinMs)) ?? true
      told = dropped
      return isSettled && dropped === before
    },
  }
}

/** Getters of an error may throw, too. */
function textOf(error: unknown) {
  try {
    return fit(describeError(error), MAX_EXCEPTION)
  } catch {
    return 'an error that cannot be described'
  }
}

/** Cuts what the server would refuse, since the start of a text is better than none, and replaces lone surrogates. */
function fit(text: unknown, max: number): string | undefined {
  if (typeof text !== 'string') return undefined
  const whole = text.toWellFormed()
  return whole.length <= max ? whole : [...whole].slice(0, max).join('')
}

/** Absent when nothing was said. A code point has at most two units. */
const endOf = (text: unknown): string | undefined =>
  typeof text !== 'string'
    ? undefined
    : [...text.slice(-2 * OUTPUT_TAIL)].slice(-OUTPUT_TAIL).join('').toWellFormed() || undefined

let shared: Stint | undefined
const stint = () => (shared ??= createStint())

/** As `createStint().run`, with the settings of the environment; so are the others. */
export const run: Stint['run'] = (...args: [string, ...unknown[]]) =>
  (stint().run as (...args: unknown[]) => never)(...args)
export const begin: Stint['begin'] = (...args) => stint().begin(...args)
export const start: Stint['start'] = (...args) => stint().start(...args)
export const end: Stint['end'] = (...args) => stint().end(...args)
export const metrics: Stint['metrics'] = (...args) => stint().metrics(...args)
export const exception: Stint['exception'] = (...args) => stint().exception(...args)
export const flush: Stint['flush'] = (...args) => stint().flush(...args)

// Whatever was thrown as text: the stack, then those of its causes, and of what an AggregateError holds.
const MAX_CAUSES = 5

function describeError(error: unknown, depth = 0): string {
  if (typeof error !== 'object' || error === null) return String(error)
  const { stack, cause, errors } = error as { stack?: unknown; cause?: unknown; errors?: unknown }
  const text = typeof stack === 'string' && stack !== '' ? withMessage(stack, error) : describeValue(error)
  // Elsewhere `errors` often holds what a person typed, such as a password that is too short.
  const held = Array.isArray(errors) ? errors.filter((one) => one instanceof Error) : []
  const causes = [...(cause === undefined ? [] : [cause]), ...held]
  const shown = causes.slice(0, MAX_CAUSES - depth).map((one) => `Caused by: ${describeError(one, depth + 1)}`)
  return [text, ...shown].join('\n')
}

/** A stack is made with the error, so that a message set later is missing in it. */
function withMessage(stack: string, error: object): string {
  const { message } = error as { message?: unknown }
  return typeof message === 'string' && !stack.includes(message) ? `${String(error)}\n${stack}` : stack
}

function describeValue(value: object): string {
  const text = String(value)
  return text === '[object Object]' ? JSON.stringify(value) : text
}
