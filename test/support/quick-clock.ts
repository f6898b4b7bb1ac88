// A real process whose time passes faster than ours.
import { join } from 'node:path'
import { createStintProcess, type Env, type StintProcess } from './process.ts'

const SPEED = 8

export interface QuickProcess extends StintProcess {
  /** What its clock shows, in ms. */
  nowMs(): number
}

/** Not started yet; see quick-clock-main.ts. Its clock continues over restarts. */
export function createQuickProcess(settings: Env = {}, speed = SPEED): QuickProcess {
  const fromMs = Date.now()
  const stint = createStintProcess(
    { CLOCK_SPEED: String(speed), CLOCK_FROM_MS: String(fromMs), UV_THREADPOOL_SIZE: '8', ...settings },
    { entry: join(import.meta.dir, 'quick-clock-main.ts') },
  )
  return { ...stint, nowMs: () => fromMs + (Date.now() - fromMs) * speed }
}
