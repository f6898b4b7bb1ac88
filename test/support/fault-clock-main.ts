// src/main.ts with a clock that a test moves: CLOCK_FILE holds `{"stepUs", "passUs"}`, by how much the wall clock was set (both ways) and how much
// time has passed besides the real time. Read at every look at the clock.
import { readFileSync } from 'node:fs'
import { type Clock, systemClock } from '../../src/clock.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/log.ts'
import { startService } from '../../src/service.ts'

const path = process.env.CLOCK_FILE!
const read = () => JSON.parse(readFileSync(path, 'utf8')) as { stepUs: number; passUs: number }

const clock: Clock = {
  wallUs() {
    const { stepUs, passUs } = read()
    return systemClock.wallUs() + stepUs + passUs
  },
  monotonicUs: () => systemClock.monotonicUs() + read().passUs,
}

const config = readConfig()
const service = await startService(config, clock, createLog({ level: config.logLevel, pretty: false }))
process.on('SIGTERM', () => void service.stop().then(() => process.exit(0)))
