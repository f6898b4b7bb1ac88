// `bun run bench growth [--marks 1000000,10000000] [--stores embedded,influxdb] [--beyond] [--json]`: what each question of /api costs when a
// store has grown: the time to the whole answer, the CPU and the peak memory of the real process, with the embedded engine and with InfluxDB.
// On a machine that is not quiet the time says little; the CPU is hardly touched by what others do.
// `--beyond` asks again without QUERY_MAX_MARKS what that has refused. `--marks 100000000` works too, and takes its time.
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { influxd, influxSettings } from '../support/influxd.ts'
import { createStintProcess, type Env, type StintProcess } from '../support/process.ts'
import { cpuMs, memoryOf, writtenBytes } from '../support/process-figures.ts'
import { tempDir } from '../support/temp-dir.ts'
import { DAYS, loadMarks, makeAccount, PROCESSES, uidOf } from './load-marks.ts'
import { inWords, surroundings } from './machine.ts'

type StoreName = 'embedded' | 'influxdb'

interface Figure {
  readonly store: StoreName
  /** As asked for; what was loaded is a little less, for runs without an end. */
  readonly marks: number
  readonly question: string
  /** To the last byte of the answer, the median of three; one alone when that took long. */
  readonly ms: number
  /** Of Stint and influxd, in steps of 10 ms over all repeats; what they do besides, such as merging, is in it. */
  readonly cpuMs: number
  /** `ok`, or the code of the refusal. */
  readonly outcome: string
  /** The most that the processes held while it was answered. */
  readonly stintMb: number
  readonly influxMb?: number
}

/** Past HTTP and the spools, in large batches: Stint itself writes and merges more often. */
interface Load {
  readonly store: StoreName
  readonly marks: number
  readonly seconds: number
  /** Of an event, with the store. */
  readonly cpuUs: number
  /** Of the stores' directory, by the event. */
  readonly bytesAtRest: number
  readonly bytesWritten: number
  /** Until Stint was ready. */
  readonly startMs: number
  /** Of Stint and influxd while nothing is asked, in % of a core. */
  readonly idleCpu: number
  readonly idleMb: number
}

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    marks: { type: 'string', default: '1000000,10000000' },
    stores: { type: 'string', default: 'embedded,influxdb' },
    beyond: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
const sizes = values.marks.split(',').map(Number)
const stores = values.stores.split(',') as StoreName[]
if (sizes.some((size) => !(size >= 1000)) || stores.some((store) => store !== 'embedded' && store !== 'influxdb'))
  throw new Error('--marks takes numbers from 1000, --stores embedded and influxdb')

const compact = (n: number) => n.toLocaleString('en-US', { notation: 'compact' })
const say = (text: string) => process.stderr.write(`${text}\n`)
const ALL = `from=-${DAYS + 1}d`
const ONE = 'process=process+7'
const SLOW_MS = 5_000
const REPEATS = 3
const IDLE_MS = 20_000
/** Longer than a store is given for an answer. */
const ANSWER_WITHIN_MS = 120_000

const QUESTIONS: readonly (readonly [what: string, path: string])[] = [
  ['timings, 1 h', '/api/timings'],
  ['timings, all, 1000 a page', `/api/timings?${ALL}&limit=1000`],
  ['timings, all, one uid', `/api/timings?${ALL}&uid=${uidOf(77)}`],
  ['failed, all', `/api/timings?${ALL}&state=failed`],
  ['running, all', `/api/timings?${ALL}&state=running`],
  ['trouble, all', `/api/timings?${ALL}&state=trouble`],
  ['abandoned, all', `/api/timings?${ALL}&state=abandoned`],
  ['orphan, all', `/api/timings?${ALL}&state=orphan`],
  ['slowest, all', `/api/timings?${ALL}&sort=duration`],
  ['latest of each process, all', `/api/timings/latest?${ALL}`],
  ['summary, 1 h', '/api/timings/summary'],
  ['summary, 24 h', '/api/timings/summary?from=-24h'],
  ['summary, all', `/api/timings/summary?${ALL}`],
  ['summary by=meta, 24 h', '/api/timings/summary?from=-24h&by=meta'],
  ['summary every=1h, 24 h', '/api/timings/summary?from=-24h&every=1h'],
  [`timings, all, one process of ${PROCESSES}`, `/api/timings?${ALL}&${ONE}`],
  [`summary, all, one process of ${PROCESSES}`, `/api/timings/summary?${ALL}&${ONE}`],
  ['metrics, 24 h, 1000 a page', '/api/metrics?from=-24h&limit=1000'],
  ['metrics every=1h, 24 h', '/api/metrics?from=-24h&every=1h'],
  ['metrics every=1d, all', `/api/metrics?${ALL}&every=1d`],
  ['exceptions, 24 h', '/api/exceptions?from=-24h'],
  ['groups, 24 h', '/api/exceptions/groups?from=-24h'],
  ['groups, all', `/api/exceptions/groups?${ALL}`],
  ['processes, 24 h', '/api/processes?from=-24h'],
  ['processes, all', `/api/processes?${ALL}`],
]

/** The kernel keeps the most a process ever held; writing 5 resets it. */
const resetPeak = (pid: number) => writeFileSync(`/proc/${pid}/clear_refs`, '5')
const peakMb = (pid: number) => Math.round(memoryOf(pid).peak / 2 ** 20)
const cpuOf = (pids: readonly number[]) => pids.reduce((sum, pid) => sum + cpuMs(pid), 0)

const round = (n: number) => Number(n.toFixed(1))

/** The bytes of all files. */
const sizeOf = (dir: string): number =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)

async function idleFigures(pids: readonly number[]) {
  await Bun.sleep(IDLE_MS)
  const before = cpuOf(pids)
  await Bun.sleep(IDLE_MS)
  const idleMb = Math.round(pids.reduce((sum, pid) => sum + memoryOf(pid).now, 0) / 2 ** 20)
  return { idleCpu: round((cpuOf(pids) - before) / (IDLE_MS / 100)), idleMb }
}

interface Asked {
  readonly ms: number
  readonly cpuMs: number
  readonly outcome: string
  readonly stintMb: number
  readonly influxMb?: number
}

async function ask(stint: StintProcess, secret: string, path: string, influxPid?: number): Promise<Asked> {
  const stintPid = stint.pid()
  const pids = influxPid === undefined ? [stintPid] : [stintPid, influxPid]
  for (const pid of pids) resetPeak(pid)
  const cpuBefore = cpuOf(pids)
  const runs: { ms: number; outcome: string }[] = []
  while (runs.length < REPEATS && !(runs.length > 0 && runs[0]!.ms > SLOW_MS)) {
    const from = performance.now()
    const answer = await fetch(stint.url + path, {
      headers: { 'x-stint-api-key': secret },
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    })
    const text = await answer.text()
    const outcome = answer.ok ? 'ok' : (JSON.parse(text) as { code: string }).code
    runs.push({ ms: performance.now() - from, outcome })
  }
  const { ms, outcome } = runs.toSorted((a, b) => a.ms - b.ms)[runs.length >> 1]!
  return {
    ms: Math.round(ms),
    cpuMs: Math.round((cpuOf(pids) - cpuBefore) / runs.length),
    outcome,
    stintMb: peakMb(stintPid),
    ...(influxPid !== undefined && { influxMb: peakMb(influxPid) }),
  }
}

async function measure(store: StoreName, size: number, figures: Figure[], loads: Load[]): Promise<void> {
  const dataDir = tempDir('growth')
  const influx = store === 'influxdb' ? await (await influxd()).freshBucket() : undefined
  const influxPid = influx && (await influxd()).server.pid()
  const settings: Env = {
    NODE_ENV: 'production',
    LOG_LEVEL: 'warn',
    ...(influx !== undefined && influxSettings(influx)),
  }
  const stint = createStintProcess(settings, { dataDir })
  try {
    const account = await makeAccount(dataDir)
    const before = influxPid === undefined ? [0, 0] : [cpuMs(influxPid), writtenBytes(influxPid)]
    const load = await loadMarks(store, dataDir, account.id, size, influx)
    const after =
      influxPid === undefined ? [load.cpuMs, load.writtenBytes] : [cpuMs(influxPid), writtenBytes(influxPid)]
    const [storedMs, written] = after.map((figure, i) => figure - before[i]!) as [number, number]
    const askAll = async (questions: typeof QUESTIONS, suffix: string) => {
      const refused: (typeof QUESTIONS)[number][] = []
      for (const [what, path] of questions) {
        const asked = await ask(stint, account.secret, path, influxPid)
        figures.push({ store, marks: size, question: what + suffix, ...asked })
        say(
          `${store}, ${load.marks} marks · ${what}${suffix}: ${asked.ms} ms, ${asked.cpuMs} ms CPU, ${asked.outcome}, ${asked.stintMb} MB`,
        )
        if (asked.outcome === 'question_too_large') refused.push([what, path])
      }
      return refused
    }
    const startMs = Math.round(await stint.start())
    const pids = influxPid === undefined ? [stint.pid()] : [stint.pid(), influxPid]
    loads.push({
      ...{ store, marks: load.marks, seconds: load.seconds, startMs },
      cpuUs: round((((influx === undefined ? 0 : load.cpuMs) + storedMs) * 1000) / load.events),
      bytesAtRest: round((load.bytesAtRest ?? sizeOf((await influxd()).dir)) / load.events),
      bytesWritten: round(written / load.events),
      ...(await idleFigures(pids)),
    })
    say(JSON.stringify(loads.at(-1)))
    await ask(stint, account.secret, '/api/processes?from=-1h', influxPid) // the first of all opens and compiles what all need
    const refused = await askAll(QUESTIONS, '')
    if (values.beyond && refused.length > 0) {
      await stint.terminate()
      await stint.start({ QUERY_MAX_MARKS: String(2 * size) })
      await askAll(refused, ' (no QUERY_MAX_MARKS)')
    }
  } finally {
    await stint.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** A row a question: what it takes at each size, and how much more CPU at the last than at the first. */
function tableOf(store: StoreName, figures: readonly Figure[]) {
  const own = figures.filter((figure) => figure.store === store)
  const marks = [...new Set(own.map((figure) => figure.marks))]
  return [...Map.groupBy(own, ({ question }) => question)].map(([question, figures]) => {
    const cells = figures.flatMap(({ marks, ms, cpuMs, outcome, stintMb, influxMb }) => [
      [`${compact(marks)} · ms`, outcome === 'ok' ? ms : `${outcome} (${ms})`],
      [`${compact(marks)} · CPU ms`, cpuMs],
      [`${compact(marks)} · MB`, influxMb === undefined ? stintMb : `${stintMb} + ${influxMb}`],
    ])
    const [first, last] = [marks.at(0), marks.at(-1)].map((size) => figures.find(({ marks }) => marks === size))
    const isComparable = first !== last && first?.outcome === 'ok' && last?.outcome === 'ok'
    return {
      question,
      ...Object.fromEntries(cells),
      ...(marks.length > 1 && {
        growth: isComparable ? `× ${(last.cpuMs / Math.max(first.cpuMs, 10 / REPEATS)).toFixed(1)}` : '',
      }),
    }
  })
}

const before = surroundings()
const figures: Figure[] = []
const loads: Load[] = []
for (const store of stores) for (const size of sizes) await measure(store, size, figures, loads)
const after = surroundings()
if (values.json) console.log(JSON.stringify({ before, after, days: DAYS, loads, figures }))
else {
  console.log(
    `\n${inWords(before, after)}\n${DAYS} days of marks; a question about timings reads MAX_RUN before and after its range too\n`,
  )
  for (const store of stores) {
    console.log(store === 'embedded' ? 'embedded engine (MB: Stint with it)' : 'InfluxDB (MB: Stint + influxd)')
    console.table(tableOf(store, figures))
  }
  console.table(loads)
}
process.exit(0)
