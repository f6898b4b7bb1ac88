// The real service under a wall clock that jumps, forth and back, also while it is stopped.
import { afterEach, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Timing } from '../../src/wire/timings.ts'
import { lacks } from '../support/fault-trial.ts'
import { readAll, untilShipped, WIDE } from '../support/oracle.ts'
import type { Caller } from '../support/process.ts'
import { createClockedProcess } from '../support/quick-clock.ts'

const HOUR_US = 3_600_000_000
const STEP_US = 50_000_000
const JOB_US = 10_000_000
/** What the requests themselves may take on a busy machine. */
const SLACK_MS = 5_000

const EVER = 'from=2026-01-01T00:00:00Z&to=2100-01-01T00:00:00Z'
const STILL = { stepUs: 0, passUs: 0 }
let stint: ReturnType<typeof createClockedProcess> | undefined
afterEach(() => stint?.close())

test.skipIf(lacks('chdb'))(
  'stamps are unique and increase, and a ten-second job measures ten seconds across the jump',
  async () => {
    const time = { ...STILL }
    stint = createClockedProcess(time)
    const { setClock } = stint
    await stint.start()
    const caller = await stint.signUp('ada@example.com')
    const stamps: string[] = []
    let number = 0

    const mark = async (kind: 'start' | 'end', uid: string): Promise<void> => {
      const response = await caller.post(`/v1/${kind}`, { process: 'job', uid })
      expect(response.status).toBe(201)
      stamps.push(((await response.json()) as { at: string }).at)
    }
    const step = (us: number) => {
      time.stepUs += us
      setClock(time)
    }
    const pass = (us: number) => {
      time.passUs += us
      setClock(time)
    }
    /** A job of ten seconds in whose middle something happens. */
    const job = async (name: string, meanwhile: () => unknown): Promise<void> => {
      const uid = `${name}-${++number}`
      await mark('start', uid)
      pass(JOB_US / 2)
      await meanwhile()
      pass(JOB_US / 2)
      await mark('end', uid)
    }
    const restart = async (us: number, end: () => Promise<unknown>) => {
      await end()
      step(us)
      await stint!.start()
    }

    await job('still', () => {})
    await job('back', () => step(-STEP_US))
    await job('forth-again', () => step(STEP_US))
    await job('back-and-forth', () => {
      step(-STEP_US)
      step(STEP_US)
    })
    for (const us of [-STEP_US, STEP_US]) {
      await mark('start', `seen-${us < 0 ? 'back' : 'forth'}`)
      await restart(us, () => stint!.kill())
      await job('after-a-kill', () => {})
      await restart(-us, () => stint!.terminate())
      await job('after-a-stop', () => {})
    }
    step(STEP_US)
    await mark('start', 'ahead')
    await job('after-a-step-forth', () => {})

    expect(stamps.filter((at, i) => i > 0 && !(at > stamps[i - 1]!))).toEqual([])
    await untilShipped(stint.url, 60_000)
    const timings = await readTimings(caller)
    const jobs = timings.filter(({ state }) => state === 'completed')
    expect(jobs).toHaveLength(number)
    for (const { uid, duration_ms } of jobs) {
      expect({ uid, ms: duration_ms, isTenSeconds: Math.abs(duration_ms! - JOB_US / 1000) < SLACK_MS }).toEqual({
        uid,
        ms: duration_ms,
        isTenSeconds: true,
      })
    }
  },
)

test.skipIf(lacks('chdb'))(
  'stamps lead a clock that was two hours ahead, also after a restart, until the DATA_DIR is given another NODE_ID',
  async () => {
    let time = STILL
    stint = createClockedProcess(time)
    const { setClock, dataDir } = stint
    const set = (next: typeof STILL) => {
      time = next
      setClock(next)
    }
    await stint.start()
    const caller = await stint.signUp('ada@example.com')
    let sent = 0
    /** How far the stamp of a new event is ahead of the wall clock, in minutes. */
    const lead = async () => {
      const wallMs = () => Date.now() + (time.stepUs + time.passUs) / 1000
      const response = await caller.post('/v1/start', { process: 'p', uid: `u${++sent}` })
      expect(response.status).toBe(201)
      const leadMs = Date.parse(((await response.json()) as { at: string }).at) - wallMs()
      return Math.round(Math.abs(leadMs) / 60_000)
    }
    expect(await lead()).toBe(0)
    set({ stepUs: 2 * HOUR_US, passUs: 0 })
    expect(await lead()).toBe(0)
    set({ stepUs: 0, passUs: 5_000_000 })
    expect(await lead()).toBe(120)
    await stint.kill()
    await stint.start()
    expect(await lead()).toBe(120)
    expect(stint.log()).toContain('delete DATA_DIR/node-id and start it with a NODE_ID')
    await stint.kill()
    rmSync(join(dataDir, 'node-id'))
    for (let again = 0; again < 2; again++) {
      await stint.start({ NODE_ID: '1' })
      expect(await lead()).toBe(0)
      await stint.kill()
    }
    await stint.start({ NODE_ID: '1' })
    await untilShipped(stint.url, 60_000)
    const timings = await readAll<Timing>(caller, `/api/timings?${EVER}`, 'timings')
    expect(timings.map(({ uid }) => uid).sort()).toEqual(Array.from({ length: sent }, (_, i) => `u${i + 1}`))
  },
)

const readTimings = (caller: Caller) =>
  readAll<Timing & { duration_ms: number | null }>(caller, `/api/timings?${WIDE}`, 'timings')
