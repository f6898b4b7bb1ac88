// `bun run bench neighbours [--marks N] [--rounds 5] [--callers 12] [--only REGEXP] [--data-dir DIR] [--json]`: what one
// account's questions cost another account's events, in the real process with the embedded engine. The first account
// has the marks of load-marks.ts, and many processes, groups of exceptions and alerts besides. For each kind of question
// quiet and loaded phases alternate in one run: in a loaded phase twelve callers ask it again and again, each in other
// words; in both the other account sends starts at a fixed rate. On a busy machine two figures say something: the ratio
// of phases that stand beside each other, and the longest turn of the event loop in its own processor time.
// `--data-dir` keeps what was loaded for the next run.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type ApiCaller, createCaller, PASSWORD, signUpAt } from '../support/caller.ts'
import { type Caller, callerOf, createStintProcess } from '../support/process.ts'
import { cpuMs } from '../support/process-figures.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'
import { DAYS, loadMarks } from './load-marks.ts'
import { inWords, median, surroundings } from './machine.ts'

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    marks: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '5' },
    callers: { type: 'string', default: '12' },
    only: { type: 'string', default: '' },
    'data-dir': { type: 'string' },
    json: { type: 'boolean', default: false },
    ask: { type: 'boolean', default: false },
  },
})

const EMAIL = 'busy@example.com'
const SECONDS = 3
const STARTS_PER_SECOND = 50
const WIDE = 2_000
const ALL_H = (DAYS + 1) * 24

/** `i` differs per caller, so that no two of them share an answer. */
const all = (i: number) => `from=-${ALL_H - i}h`
const KINDS: Readonly<Record<string, (i: number, alert: string) => string>> = {
  timings: (i) => `/api/timings?${all(i)}&limit=1000`,
  'timings, trouble': (i) => `/api/timings?${all(i)}&limit=1000&state=trouble`,
  'timings, slowest': (i) => `/api/timings?${all(i)}&limit=1000&sort=duration`,
  latest: (i) => `/api/timings/latest?${all(i)}`,
  'summary, an hour': (i) => `/api/timings/summary?from=-${3600 - i}s`,
  'summary by meta': (i) => `/api/timings/summary?${all(i)}&by=meta`,
  'summary every=1d': (i) => `/api/timings/summary?${all(i)}&every=1d&process=process*`,
  compare: (i) => `/api/timings/summary?from=-${720 - i}h&compare_from=-${1440 - i}h`,
  metrics: (i) => `/api/metrics?${all(i)}&limit=1000`,
  'metrics every=1d': (i) => `/api/metrics?${all(i)}&every=1d`,
  exceptions: (i) => `/api/exceptions?${all(i)}&limit=1000`,
  groups: (i) => `/api/exceptions/groups?${all(i)}&limit=1000`,
  'groups, a word': (i) => `/api/exceptions/groups?${all(i)}&limit=1000&text=${i}`,
  'exceptions, a word': (i) => `/api/exceptions?${all(i)}&limit=1000&text=${i}`,
  export: (i) => `/api/exceptions/export?${all(i)}&format=jsonl`,
  processes: (i) => `/api/processes?${all(i)}&limit=1000`,
  overview: (i) => `/api/overview?q=${i % 10}`,
  'overview, one process': (i) => `/api/overview?process=process+${i}`,
  prometheus: (i) => `/api/prometheus?i=${i}`.replace(/\?.*/, ''),
  'an alert': (_, alert) => `/api/alerts/${alert}`,
  alerts: (i) => `/api/alerts?limit=${200 - i}`,
}

/**
 * A process of its own: `--ask`, with URL and headers in the environment; a line of paths begins, an empty one ends. It
 * prints sums: thousands of lines a second would keep the process from its events that times them.
 */
async function askAgain(): Promise<never> {
  const { URL = '', HEADERS = '{}' } = process.env
  const headers = JSON.parse(HEADERS) as Record<string, string>
  const got = new Map<number, { count: number; bytes: number }>()
  setInterval(() => {
    for (const [status, { count, bytes }] of got) console.log(`${status} ${count} ${bytes}`)
    got.clear()
  }, 100)
  let round = 0
  const loop = async (path: string, own: number) => {
    while (own === round) {
      const answer = await fetch(URL + path, { headers })
      let bytes = 0
      for await (const chunk of answer.body ?? []) bytes += chunk.length
      const before = got.get(answer.status) ?? { count: 0, bytes: 0 }
      got.set(answer.status, { count: before.count + 1, bytes: before.bytes + bytes })
      if (answer.status === 429) await Bun.sleep(100)
    }
  }
  for await (const line of console) {
    round++
    if (line !== '') for (const path of JSON.parse(line)) void loop(path, round)
  }
  process.exit(0)
}

interface Phase {
  readonly p95Ms: number
  /** The longest turn of the event loop, in its own processor time. */
  readonly turnMs: number
  /** Of Stint's process, in % of a core. */
  readonly cpu: number
  readonly answers: Map<string, number>
  readonly bytes: number
}

const p95 = (times: readonly number[]) => times.toSorted((a, b) => a - b)[Math.floor(0.95 * times.length)]!

async function main(): Promise<void> {
  const [marks, rounds, callers] = [values.marks, values.rounds, values.callers].map(Number) as [number, number, number]
  const dataDir = values['data-dir'] ?? tempDir('neighbours')
  const kept = join(dataDir, 'bench.json')
  const turns = join(dataDir, 'turns')
  const env = { NODE_ENV: 'production', LOG_LEVEL: 'warn', SIGNUP: 'open', TURNS_FILE: turns }
  const stint = createStintProcess(env, { dataDir, entry: join(import.meta.dir, 'count-turns.ts') })
  const before = surroundings()
  if (!existsSync(kept)) {
    await stint.start()
    const { account, secret, bySession } = await signUpAt(stint.url, EMAIL)
    const watch = { process: 'job 7', name: 'fails', channels: [], failed: {} }
    const made = await bySession.post('/api/watches', watch)
    if (made.status !== 201) throw new Error(`no watch: ${made.text}`)
    const other = await stint.signUp('other@example.com')
    await stint.terminate()
    await loadMarks('embedded', dataDir, account, marks)
    await stint.start()
    await sendWide(callerOf(stint.url, { account, keyId: '', secret }))
    const alert = await untilAlert(bySession)
    writeFileSync(kept, JSON.stringify({ secret: other.secret, alert }))
  } else await stint.start()
  const { secret, alert } = JSON.parse(readFileSync(kept, 'utf8')) as Record<'secret' | 'alert', string>
  const headers = { cookie: await signInFor(stint.url) }
  const other = callerOf(stint.url, { account: '', keyId: '', secret })
  const asking = Bun.spawn([process.execPath, import.meta.path, '--ask'], {
    env: { ...process.env, URL: stint.url, HEADERS: JSON.stringify(headers) },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  let answers = new Map<string, number>()
  let bytes = 0
  void (async () => {
    let rest = ''
    for await (const chunk of asking.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop()!
      for (const line of lines) {
        const [status = '', count, size] = line.split(' ')
        answers.set(status, (answers.get(status) ?? 0) + Number(count))
        bytes += Number(size)
      }
    }
  })()
  const tell = (paths?: readonly string[]) => {
    asking.stdin.write(`${paths === undefined ? '' : JSON.stringify(paths)}\n`)
    asking.stdin.flush()
  }

  async function phase(): Promise<Phase> {
    const times: number[] = []
    const sent: Promise<void>[] = []
    answers = new Map()
    bytes = 0
    writeFileSync(turns, '')
    const [from, cpuBefore] = [performance.now(), cpuMs(stint.pid())]
    for (let n = 0; n < SECONDS * STARTS_PER_SECOND; n++) {
      await Bun.sleep(Math.max(0, from + (n * 1000) / STARTS_PER_SECOND - performance.now()))
      const at = performance.now()
      const send = async () => {
        const { status } = await other.post('/v1/start', { process: 'p', uid: `u${crypto.randomUUID()}` })
        if (status !== 201) throw new Error(`/v1/start: ${status}`)
        times.push(performance.now() - at)
      }
      sent.push(send())
    }
    const cpu = (cpuMs(stint.pid()) - cpuBefore) / ((performance.now() - from) / 100)
    await Promise.all(sent)
    return { p95Ms: p95(times), turnMs: longestTurn(turns), cpu, answers, bytes }
  }

  const rows: Record<string, string | number>[] = []
  const kinds = Object.entries(KINDS).filter(([kind]) => new RegExp(values.only).test(kind))
  for (const [kind, pathOf] of kinds) {
    const paths = Array.from({ length: callers }, (_, i) => pathOf(i, alert))
    const found = await fetch(stint.url + paths[0], { headers })
    if (!found.ok) throw new Error(`${paths[0]}: ${found.status} ${await found.text()}`)
    await found.arrayBuffer()
    const phases: { quiet: Phase; loaded: Phase }[] = []
    for (let round = 0; round < rounds; round++) {
      const quiet = await phase()
      tell(paths)
      const loaded = await phase()
      tell()
      phases.push({ quiet, loaded })
      await until('the last questions are answered', async () => (await busyNow(stint.pid())) < 30)
    }
    const of = (pick: (round: (typeof phases)[number]) => number) => median(phases.map(pick))
    const row = {
      kind,
      'quiet p95 ms': Number(of(({ quiet }) => quiet.p95Ms).toFixed(1)),
      'loaded p95 ms': Number(of(({ loaded }) => loaded.p95Ms).toFixed(1)),
      ratio: Number(of(({ quiet, loaded }) => loaded.p95Ms / quiet.p95Ms).toFixed(1)),
      'of rounds': phases.map(({ quiet, loaded }) => (loaded.p95Ms / quiet.p95Ms).toFixed(1)).join(' '),
      'longest turn ms': `${of(({ quiet }) => quiet.turnMs)} → ${of(({ loaded }) => loaded.turnMs)}`,
      'CPU %': `${Math.round(of(({ quiet }) => quiet.cpu))} → ${Math.round(of(({ loaded }) => loaded.cpu))}`,
      answers: phases.map(({ loaded }) => [...loaded.answers].map((each) => each.join('×')).join(' ')).at(-1)!,
      'kB each': Math.round(
        of(({ loaded: { bytes, answers } }) => bytes / 1000 / Math.max(1, answers.get('200') ?? 0)),
      ),
    }
    rows.push(row)
    process.stderr.write(`${JSON.stringify(row)}\n`)
  }
  asking.kill()
  await stint.terminate()
  if (values['data-dir'] === undefined) rmSync(dataDir, { recursive: true, force: true })
  if (values.json) console.log(JSON.stringify({ before, after: surroundings(), rows }))
  else {
    console.log(`\n${inWords(before, surroundings())}, ${callers} callers, ${rounds} rounds of ${SECONDS} s each\n`)
    console.table(rows)
  }
}

/** Of each tenth of a second the file has a line. */
const longestTurn = (file: string): number => Math.max(0, ...readFileSync(file, 'utf8').trim().split('\n').map(Number))

/** The cookie of a session: its name has the port. */
async function signInFor(url: string): Promise<string> {
  const { headers, status } = await createCaller(url).post('/api/session', { email: EMAIL, password: PASSWORD })
  if (status !== 201) throw new Error(`no session: ${status}`)
  return headers.get('set-cookie')!.split(';')[0]!
}

/** % of a core in the last 200 ms. */
async function busyNow(pid: number): Promise<number> {
  const before = cpuMs(pid)
  await Bun.sleep(200)
  return (cpuMs(pid) - before) / 2
}

/** Runs of many processes, and for each an exception in a group of its own. */
async function sendWide(busy: Caller): Promise<void> {
  const trace = (i: number) => Array.from({ length: 40 }, (_, n) => `    at step${i}x${n} (src/job-${i}.ts:${n}:9)`)
  for (let i = 0; i < WIDE; i += 100) {
    const events = Array.from({ length: 100 }, (_, n) => i + n).flatMap((n) => {
      const common = { process: `job ${n}`, meta: `zone ${n % 4}` }
      const word = [...String(n)].map((digit) => 'abcdefghij'[Number(digit)]).join('')
      return [
        ...[0, 1, 2].flatMap((run) => [
          { kind: 'start', ...common, uid: `w${n}-${run}` },
          { kind: 'end', ...common, uid: `w${n}-${run}`, ...(n % 7 === 0 && { failed: true }) },
        ]),
        { kind: 'exception', ...common, exception: [`Error: ${word} was refused`, ...trace(n)].join('\n') },
      ]
    })
    const answer = await busy.post('/v1/batch', events)
    if (answer.status !== 201) throw new Error(`/v1/batch: ${answer.status} ${await answer.text()}`)
  }
}

async function untilAlert(busy: ApiCaller): Promise<string> {
  let id: string | undefined
  await until('an alert fires', async () => {
    id = (await busy.get('/api/alerts')).json.alerts[0]?.id
    return id !== undefined
  })
  return id!
}

if (values.ask) await askAgain()
await main()
process.exit(0)
