// src/main.ts with time that passes CLOCK_SPEED times as fast since CLOCK_FROM_MS: the clock and all timers, so that a
// test of the real process waits 1.5 s where an operator waits 15.
import { type Clock, systemClock } from '../../src/clock.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/log.ts'
import { startService } from '../../src/service.ts'

const speed = Number(process.env.CLOCK_SPEED)
const fromUs = Number(process.env.CLOCK_FROM_MS) * 1000
const clock: Clock = {
  wallUs: () => fromUs + (systemClock.wallUs() - fromUs) * speed,
  monotonicUs: () => systemClock.monotonicUs() * speed,
}

const { setTimeout: after, setInterval: every, Bun: bun } = globalThis
const sleep = bun.sleep
globalThis.setTimeout = Object.assign(
  (run: () => void, ms = 0, ...args: []) => after(run, ms / speed, ...args),
  after,
) as typeof setTimeout
globalThis.setInterval = ((run: () => void, ms = 0, ...args: []) =>
  every(run, ms / speed, ...args)) as typeof setInterval
bun.sleep = (until) => sleep(typeof until === 'number' ? until / speed : until)

const config = readConfig()
const service = await startService(config, clock, createLog({ level: config.logLevel, pretty: false }))
process.on('SIGTERM', () => void service.stop().then(() => process.exit(0)))
