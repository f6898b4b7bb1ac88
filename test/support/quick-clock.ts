// Real processes with another clock than ours; this file is also their entry. For a quick one time passes CLOCK_SPEED times as fast since
// CLOCK_FROM_MS, the clock and all timers: a test waits 1.5 s where an operator waits 15. For one that is set, CLOCK_FILE holds a
// `SetClock`, which is read at every look.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, systemClock } from '../../src/clock.ts'
import { createStintProcess, type Env, type ProcessOptions } from './process.ts'
import { tempDir } from './temp-dir.ts'

const SPEED = 8

export type QuickProcess = ReturnType<typeof createQuickProcess>

/** Not started yet. Its clock continues over restarts. */
export function createQuickProcess(settings: Env = {}, speed = SPEED) {
  const fromMs = Date.now()
  const env = { CLOCK_SPEED: String(speed), CLOCK_FROM_MS: String(fromMs), UV_THREADPOOL_SIZE: '8', ...settings }
  const stint = createStintProcess(env, { entry: import.meta.path })
  /** What its clock shows, in ms. */
  const nowMs = () => fromMs + (Date.now() - fromMs) * speed
  return { ...stint, nowMs }
}

export interface SetClock {
  /** By how much the wall clock was set. */
  readonly stepUs: number
  /** How much time has passed besides the real time. */
  readonly passUs: number
}

/** Not started yet. `setClock` holds at once, and over restarts. */
export function createClockedProcess(clock: SetClock, settings: Env = {}, options: ProcessOptions = {}) {
  const path = join(tempDir('clock'), 'clock')
  const setClock = (next: SetClock) => {
    writeFileSync(`${path}.new`, JSON.stringify(next))
    renameSync(`${path}.new`, path)
  }
  setClock(clock)
  const env = { CLOCK_FILE: path, ...settings }
  return { ...createStintProcess(env, { ...options, entry: import.meta.path }), setClock }
}

function clockOfFile(path: string): Clock {
  const read = () => JSON.parse(readFileSync(path, 'utf8')) as SetClock
  return {
    wallUs() {
      const { stepUs, passUs } = read()
      return systemClock.wallUs() + stepUs + passUs
    },
    monotonicUs: () => systemClock.monotonicUs() + read().passUs,
  }
}

/** Makes the timers of this process as fast. */
function quickenClock(speed: number, fromUs: number): Clock {
  const { setTimeout: after, setInterval: every, Bun: bun } = globalThis
  const sleep = bun.sleep
  globalThis.setTimeout = Object.assign(
    (run: () => void, ms = 0, ...args: []) => after(run, ms / speed, ...args),
    after,
  ) as typeof setTimeout
  globalThis.setInterval = ((run: () => void, ms = 0, ...args: []) =>
    every(run, ms / speed, ...args)) as typeof setInterval
  bun.sleep = (until) => sleep(typeof until === 'number' ? until / speed : until)
  return {
    wallUs: () => fromUs + (systemClock.wallUs() - fromUs) * speed,
    monotonicUs: () => systemClock.monotonicUs() * speed,
  }
}

if (import.meta.main) {
  const { CLOCK_FILE, CLOCK_SPEED, CLOCK_FROM_MS } = process.env
  const clock = CLOCK_FILE ? clockOfFile(CLOCK_FILE) : quickenClock(Number(CLOCK_SPEED), Number(CLOCK_FROM_MS) * 1000)
  const { readConfig } = await import('../../src/config.ts')
  const { createLog } = await import('../../src/log.ts')
  const { startService } = await import('../../src/service.ts')
  const config = readConfig()
  const service = await startService(config, clock, createLog({ level: config.logLevel, pretty: false }))
  process.on('SIGTERM', () => void service.stop().then(() => process.exit(0)))
}
