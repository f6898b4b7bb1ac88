// Sends the backlog: events that Stint has not acknowledged yet. One process at a time does this: `stint flush` itself,
// or the copy of it that a job starts and does not wait for. Two at once would be safe (an event sent twice is stored
// once) but wasteful.
//   1. a job first writes its file and then looks for the lock; the holder releases the lock and then lists the files
//      again. So a file is never left without a process that has seen it;
//   2. the lock belongs to a process that is alive and has sent something within the last minute; any other lock is
//      taken over.
import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, systemClock } from '../../clock.ts'
import type { CliConfig } from '../config.ts'
import { CliError, type Io } from '../io.ts'
import { oneLine } from '../safe-text.ts'
import { isAlive, openPendingEvents, type PendingEvent } from './pending-events.ts'
import { sendEvent } from './send-event.ts'

export interface FlushOptions {
  /** Includes events for another address. */
  readonly anyUrl: boolean
  readonly isSilent: boolean
}

const TIMEOUT_MS = 10_000
const STALE_US = 60_000_000
const SENDING = 'flush.lock'
const WAITING = 'flush-later.lock'
const FIRST_WAIT_MS = 10_000
/** Shorter than a lock's life. */
const WAIT_MS = 30_000
const WAITS = 120

/** Throws CliError if something is left that should have been sent. */
export async function runFlush(config: CliConfig, { anyUrl, isSilent }: FlushOptions, io: Io): Promise<void> {
  const { url, keyHeader, apiKey: key, stateDir } = config
  const clock = systemClock
  const say = (line: string) => (isSilent ? undefined : io.stderr.write(`stint: ${oneLine(line)}\n`))
  const fail = (message: string) => new CliError(isSilent ? '' : message)
  const pending = openPendingEvents(stateDir, () => crypto.randomUUID())
  const list = () => pending.list(anyUrl ? undefined : url)
  let [sent, dropped] = [0, 0]
  let why: string | undefined

  /** Whether the event is done with. */
  async function settle(event: PendingEvent, lock: Lock): Promise<boolean> {
    const outcome = await sendEvent(event, { url, keyHeader, key }, io.fetch, AbortSignal.timeout(TIMEOUT_MS))
    lock.touch()
    if (outcome.is === 'kept') why = outcome.why
    if (outcome.is === 'stored') sent++
    if (outcome.is === 'refused') {
      dropped++
      say(`${event.kind} of ${event.body.process} at ${event.body.at} dropped: ${outcome.why}`)
    }
    return outcome.is !== 'kept'
  }

  /** The oldest first, until all are answered or one answer shows that Stint takes nothing now. */
  async function sendAll(lock: Lock): Promise<void> {
    for (const file of list()) {
      const found = pending.read(file, clock.wallUs())
      if (found === undefined) continue
      const rest: PendingEvent[] = []
      if (found.unreadable > 0) say(`${found.unreadable} lines of ${file} dropped: they are not events`)
      for (const event of found.events) {
        const isOurs = anyUrl || event.url === url
        if (why !== undefined || !isOurs || !(await settle(event, lock))) rest.push(event)
      }
      if (rest.length === 0) pending.remove(file)
      else if (rest.length < found.events.length || found.unreadable > 0) pending.replace(file, rest)
      if (why !== undefined) return
    }
  }

  for (let before = -1; why === undefined && sent + dropped > before && list().length > 0; ) {
    before = sent + dropped
    const lock = takeLock(stateDir, clock, SENDING)
    if (lock === undefined) throw fail('cannot send kept events: another stint process is sending them')
    try {
      await sendAll(lock)
    } finally {
      lock.release()
    }
  }
  const countIn = (files: readonly string[]) =>
    files.reduce((sum, file) => sum + (pending.read(file, clock.wallUs())?.events.length ?? 0), 0)
  const ours = new Set(list())
  const left = countIn([...ours])
  const others = isSilent ? 0 : countIn(pending.list().filter((file) => !ours.has(file)))
  const elsewhere = others > 0 ? `, ${others} for another address (--all sends them here)` : ''
  const figures = `${sent} sent, ${dropped} dropped, ${left} left${elsewhere}`
  if (why !== undefined) throw fail(`${figures}: ${oneLine(why)}`)
  if (!isSilent) io.stdout.write(`${figures}\n`)
}

/** Sends the backlog when Stint answers again; gives up after an hour. One process at a time waits. */
export async function flushLater(config: CliConfig, io: Io): Promise<void> {
  const { url, stateDir } = config
  const waiting = takeLock(stateDir, systemClock, WAITING)
  if (waiting === undefined) return
  const pending = openPendingEvents(stateDir, () => crypto.randomUUID())
  const isLeft = () => pending.list(url).length > 0
  let tries = 0
  try {
    for (; tries < WAITS && isLeft(); tries++) {
      await Bun.sleep(tries === 0 ? FIRST_WAIT_MS : WAIT_MS)
      waiting.touch()
      await runFlush(config, { anyUrl: false, isSilent: true }, io).catch(() => {}) // the next round says the same
    }
  } finally {
    waiting.release()
  }
  if (tries < WAITS && isLeft()) await flushLater(config, io) // a job wrote its file and found us still waiting
}

/**
 * Starts a process that sends the backlog and outlives us; `isAway`: it waits until Stint answers. If that fails, the
 * next `stint exec` starts one.
 */
export function startFlush(dir: string, clock: Clock, env: Io['env'], isAway = false): void {
  if (isHeld(join(dir, isAway ? WAITING : SENDING), clock.wallUs())) return
  // A compiled program is one file and starts by itself.
  const ourselves = Bun.main.startsWith('/$bunfs/') ? [] : [...process.execArgv, Bun.main]
  const words = [process.execPath, ...ourselves, 'flush', isAway ? '--later' : '--background']
  try {
    Bun.spawn(words, { env, stdin: 'ignore', stdout: 'ignore', stderr: 'ignore', detached: true }).unref()
  } catch {
    // The events are in their files.
  }
}

interface Lock {
  /** Shows that we are alive. */
  touch(): void
  release(): void
}

/** Undefined if another process holds it. */
function takeLock(dir: string, clock: Clock, name: string): Lock | undefined {
  const path = join(dir, name)
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  if (!isHeld(path, clock.wallUs())) rmSync(path, { force: true })
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined
    throw error
  }
  const isOurs = () => holderOf(path) === process.pid
  return {
    touch() {
      const nowS = clock.wallUs() / 1e6
      if (isOurs()) utimesSync(path, nowS, nowS)
    },
    release() {
      if (isOurs()) rmSync(path, { force: true })
    },
  }
}

function isHeld(path: string, nowUs: number): boolean {
  const modifiedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs
  if (modifiedMs === undefined || Math.abs(nowUs - modifiedMs * 1000) > STALE_US) return false
  const pid = holderOf(path)
  return pid === undefined || isAlive(pid) // without one it is being written
}

function holderOf(path: string): number | undefined {
  try {
    const pid = Number(readFileSync(path, 'utf8'))
    return Number.isInteger(pid) && pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}
