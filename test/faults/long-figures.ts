// The figures of the long form: how soon it is ready with a million events in the spool, how fast a backlog drains while events keep coming, how soon a
// fresh one is visible after that, and how much memory a minute of overload takes.
import { writeBacklog } from '../support/fault-backlog.ts'
import { startFaultStores } from '../support/fault-stores.ts'
import { figure } from '../support/fault-trial.ts'
import { countSpooled, readAll, WIDE } from '../support/oracle.ts'
import { type Caller, createStintProcess } from '../support/process.ts'
import { cpuMs } from '../support/process-figures.ts'
import { until } from '../support/until.ts'
import { overload, RATE_LIMIT } from './overload.ts'

const BACKLOG = 1_000_000
const READY_WITHIN_CPU_MS = 5_000
const INTAKE_PER_S = 1_000
const BATCH = 100
const DRAIN_RATIO = 3
const FRESH_WITHIN_MS = 10_000
const DRAINED_WITHIN_MS = 20 * 60_000
const OVERLOAD_MS = 60_000
const MOST_GROWTH_BYTES = 256 * 2 ** 20

type Say = (text: string) => void

/** Resolves to what was not as promised. */
export async function measureFigures(say: Say): Promise<string[]> {
  return [...(await measureBacklog(say)), ...(await measureOverload(say))]
}

async function measureBacklog(say: Say): Promise<string[]> {
  const problems: string[] = []
  const stores = await startFaultStores()
  const stint = createStintProcess({ ...stores.settings, SERIES_MAX: '0' })
  try {
    stores.influxProxy.setDown(true)
    await stint.start()
    const caller = await stint.signUp('backlog@example.com')
    await stint.terminate()
    const us = Date.now() * 1000 - BACKLOG
    await writeBacklog(stint.dataDir, 'points', BACKLOG, (i) => ({
      kind: 'metrics',
      account: caller.account,
      process: `job ${i % 7}`,
      meta: '',
      items: [['value', i]],
      stamp: { us: us + i, sub: 0 },
    }))
    for (const what of ['start', 'start after a kill -9']) {
      const readyMs = await stint.start()
      const cpu = cpuMs(stint.pid())
      say(
        `${what} with ${(await countSpooled(stint.url))?.points} events in the spool: ready after ${Math.round(readyMs)} ms, ${cpu} ms of it processor time`,
      )
      if (cpu > READY_WITHIN_CPU_MS) problems.push(`a start with a backlog took ${cpu} ms of processor time`)
      if (what === 'start') await stint.kill()
    }

    const intake = startIntake(caller)
    stores.influxProxy.setDown(false)
    await until('the first delivery', async () => ((await figure(stint, 'stint_delivered_total')) ?? 0) > 0)
    const since = performance.now()
    const delivered = (await figure(stint, 'stint_delivered_total'))!
    await until(
      'the backlog drained',
      async () => (await countSpooled(stint.url))!.points < 5_000,
      DRAINED_WITHIN_MS,
      100,
    )
    const seconds = (performance.now() - since) / 1000
    const drainPerS = ((await figure(stint, 'stint_delivered_total'))! - delivered) / seconds
    const intakePerS = intake.sent() / (intake.ms() / 1000)
    say(
      `the backlog drained at ${Math.round(drainPerS)} events a second while ${Math.round(intakePerS)} came in: ${(drainPerS / intakePerS).toFixed(1)} times`,
    )
    if (drainPerS < DRAIN_RATIO * intakePerS) problems.push('the backlog drained too slowly')

    const freshSince = performance.now()
    const answer = await caller.post('/v1/exception', { process: 'fresh', exception: 'fresh' })
    const metric = await caller.post('/v1/metrics', { process: 'fresh', items: { value: 1 } })
    if (answer.status !== 201 || metric.status !== 201) problems.push('a fresh event was refused')
    const isVisible = async (path: string, member: string) =>
      (await readAll(caller, `${path}?${WIDE}&process=fresh`, member)).length === 1
    await until('the fresh metric visible', () => isVisible('/api/metrics', 'points'))
    await until('the fresh exception visible', () => isVisible('/api/exceptions', 'exceptions'))
    const freshMs = performance.now() - freshSince
    say(`a fresh event was visible after ${Math.round(freshMs)} ms`)
    if (freshMs > FRESH_WITHIN_MS) problems.push('a fresh event was visible too late')
    await intake.stop()
  } finally {
    await stint.close()
    await stores.close()
  }
  return problems
}

/** Events in batches at a steady rate, until it is stopped. */
function startIntake(caller: Caller) {
  const since = performance.now()
  let sent = 0
  let isOver = false
  const events = Array.from({ length: BATCH }, (_, i) => ({
    kind: 'metrics',
    process: `job ${i % 7}`,
    items: { more: i },
  }))
  const running = (async () => {
    while (!isOver) {
      if ((await caller.post('/v1/batch', events)).status === 201) sent += BATCH
      await Bun.sleep(Math.max(0, (sent / INTAKE_PER_S) * 1000 - (performance.now() - since)))
    }
  })()
  return {
    sent: () => sent,
    ms: () => performance.now() - since,
    async stop() {
      isOver = true
      await running
    },
  }
}

async function measureOverload(say: Say): Promise<string[]> {
  const problems: string[] = []
  const stint = createStintProcess({ RATE_LIMIT: String(RATE_LIMIT), SERIES_MAX: '0' })
  try {
    await stint.start()
    const { statuses, withoutRetryAfter, quiet, connections, memory } = await overload(stint, {
      forMs: OVERLOAD_MS,
      greedy: 300,
      idle: 3_000,
      slow: 700,
    })
    const mib = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`
    const answers = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')
    say(`overload for ${OVERLOAD_MS / 1000} s on ${connections} connections: the greedy key had ${answers}`)
    say(
      `  the quiet keys: ${quiet.succeeded} of ${quiet.sent}, the slowest ${Math.round(quiet.slowestMs)} ms; memory ${mib(memory.before)} before, ${mib(memory.peak)} at most`,
    )
    if (quiet.succeeded < 0.999 * quiet.sent) problems.push('the quiet keys suffered')
    if (withoutRetryAfter > 0) problems.push('a refusal without retry-after')
    if (memory.peak - memory.before > MOST_GROWTH_BYTES) problems.push('memory grew too much')
  } finally {
    await stint.close()
  }
  return problems
}
