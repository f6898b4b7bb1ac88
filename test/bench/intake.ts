// `bun run bench intake [--seconds N] [--rounds N] [--only REGEXP] [--away] [--beside DIR] [--json]`: the cost of a durable request beside its rivals.
// The first figure of a row is its ratio: processor time of the whole process per request, relative to a minimal
// Elysia app that takes the same mark in the same round; the median of the rounds. Requests a second differ by half
// from hour to hour. `CPU µs stored` goes on until the last event is in its store, and no server is measured while
// another one still stores.
// All cases alternate. The server has one core and the load the other, on machines with two.
// `--away`: the stores do not answer, so the spool alone is measured. `--beside`: another checkout of Stint takes part in every round.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { cpuMs, memoryOf } from '../support/process-figures.ts'
import { tempDir } from '../support/temp-dir.ts'
import { inWords, median, surroundings } from './machine.ts'
import { pinned, runWrk, SERVER_CORE } from './wrk.ts'

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '7' },
    only: { type: 'string', default: '' },
    away: { type: 'boolean', default: false },
    beside: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)]
const say = (text: string) => process.stderr.write(`${text}\n`)
const dir = tempDir('bench')
const ROOT = join(import.meta.dir, '../..')
const AWAY = { CLICKHOUSE_URL: 'http://127.0.0.1:1', CLICKHOUSE_USER: 'bench', CLICKHOUSE_PASSWORD: 'bench' }
const WARM_UP_SECONDS = 2

const MARK = JSON.stringify({
  process: 'nightly import',
  meta: 'region eu',
  uid: '3f2a9c1e-1b2c-4d5e-8f90-123456789abc',
})
const metrics = (n: number) =>
  JSON.stringify({
    process: 'nightly import',
    items: Object.fromEntries(Array.from({ length: n }, (_, i) => [`metric ${i}`, i * 1.5])),
  })
const exception = (n: number) =>
  JSON.stringify({ process: 'nightly import', exception: 'at load (import.ts)\n'.repeat(n / 20) })
const batch = (n: number) =>
  JSON.stringify(Array.from({ length: n }, () => ({ kind: 'start', process: 'nightly import', meta: 'region eu' })))

interface Server {
  readonly url: string
  readonly key: string
  readonly child: Bun.Subprocess<'ignore', 'pipe', 'inherit'>
  readonly isStint: boolean
}

interface Case {
  readonly what: string
  readonly server: Server
  readonly path: string
  readonly body: string
  readonly connections: number
  /** Sent instead of the server's own key. */
  readonly key?: string
}

interface Figures {
  readonly cpuUs: number
  /** The same until everything is stored. */
  readonly storedUs: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  readonly commitsPerSecond: number
  readonly rssMb: number
  readonly unexpected: number
}

/** The first match of the pattern in a server's output. */
async function readOutput(stream: ReadableStream<Uint8Array>, pattern: RegExp): Promise<string> {
  const reader = stream.getReader()
  for (let text = ''; ; ) {
    const { value, done } = await reader.read()
    if (done) throw new Error('the server ended before it was ready')
    text += new TextDecoder().decode(value)
    const found = pattern.exec(text)?.[1]
    if (found === undefined) continue
    reader.releaseLock()
    return found
  }
}

const startProcess = (file: string, args: readonly string[], env: Record<string, string>) =>
  Bun.spawn(pinned(SERVER_CORE, [process.execPath, file, ...args]), {
    env: { ...process.env, NODE_ENV: 'production', ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })

const RIVAL_KEY = 'bench'

async function startRival(name: 'minimal' | 'durable' | 'bare' | 'app'): Promise<Server> {
  const child = startProcess(join(import.meta.dir, 'rivals.ts'), [name], { BENCH_KEY: RIVAL_KEY })
  const port = await readOutput(child.stdout, /^(\d+)\n/)
  return { url: `http://127.0.0.1:${port}`, key: RIVAL_KEY, child, isStint: false }
}

async function startStint(root: string, dataDir: string): Promise<Server> {
  const child = startProcess(join(root, 'src/main.ts'), [], { PORT: '0', DATA_DIR: dataDir, ...(values.away && AWAY) })
  const url = await readOutput(child.stdout, /"url":"([^"]+)"/)
  const answer = await fetch(`${url}/api/accounts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'bench@example.com', password: crypto.randomUUID() }),
  })
  const { key } = (await answer.json()) as { key: { secret: string } }
  return { url, key: key.secret, child, isStint: true }
}

/** The sum of a family of Prometheus, over its labels. */
async function readTotal({ url }: Server, family: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return [...text.matchAll(new RegExp(`^${family}\\{.*\\} (\\d+)`, 'gm'))].reduce((sum, it) => sum + Number(it[1]), 0)
}

/** Waits until everything accepted is stored. */
async function settle(server: Server): Promise<void> {
  if (values.away || !server.isStint) return
  while ((await readTotal(server, 'stint_spool_records')) > 0) await Bun.sleep(50)
}

const countCommits = async (server: Server) =>
  server.isStint ? await readTotal(server, 'stint_commit_seconds_count') : 0

async function measure(
  { server, path, body, key = server.key, connections }: Case,
  forSeconds: number,
): Promise<Figures> {
  const { pid } = server.child
  const [cpuBefore, commitsBefore] = [cpuMs(pid), await countCommits(server)]
  const figures = await runWrk(server.url, { path, body, key }, connections, forSeconds, dir)
  const cpu = cpuMs(pid) - cpuBefore
  const commits = (await countCommits(server)) - commitsBefore
  const rssMb = memoryOf(pid).now / 2 ** 20
  await settle(server)
  const perUs = (n: number) => (n / figures.us) * 1e6
  return {
    cpuUs: (cpu / figures.requests) * 1000,
    storedUs: ((cpuMs(pid) - cpuBefore) / figures.requests) * 1000,
    perSecond: perUs(figures.requests),
    p50Ms: figures.p50Us / 1000,
    p99Ms: figures.p99Us / 1000,
    p999Ms: figures.p999Us / 1000,
    commitsPerSecond: perUs(commits),
    rssMb,
    unexpected: figures.unexpected,
  }
}

async function measureOpenLoop({ url, key }: Server, rate: number) {
  const request = [
    'POST /v1/start HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    `X-Stint-Api-Key: ${key}`,
    `Content-Length: ${Buffer.byteLength(MARK)}`,
    '',
    MARK,
  ].join('\r\n')
  const args = [new URL(url).port, rate, seconds, 64].map(String)
  const load = Bun.spawn(pinned(1, [process.execPath, join(import.meta.dir, 'open-loop.ts'), ...args]), {
    stdin: Buffer.from(request),
    stderr: 'inherit',
  })
  return JSON.parse(await new Response(load.stdout).text()) as Record<string, number>
}

const MINIMAL = 'minimal Elysia app'

interface Servers {
  readonly minimal: Server
  readonly durable: Server
  readonly bare: Server
  readonly app: Server
  readonly stint: Server
  readonly beside: Server | undefined
}

function casesOf({ minimal, durable, bare, app, stint, beside }: Servers): Case[] {
  const mark = { path: '/v1/start', body: MARK }
  const both = (what: string, path: string, body: string, connections: number): Case[] => [
    ...(beside === undefined ? [] : [{ what: `Stint beside, ${what}`, server: beside, path, body, connections }]),
    { what: `Stint, ${what}`, server: stint, path, body, connections },
  ]
  const all = [1, 64, 256, 1024].flatMap((connections): Case[] => [
    { what: MINIMAL, server: minimal, ...mark, connections },
    { what: 'minimal Elysia app, durable', server: durable, ...mark, connections },
    { what: 'bare Bun.serve', server: bare, ...mark, connections },
    { what: "Stint's app, no spool", server: app, ...mark, connections },
    ...both('start', '/v1/start', MARK, connections),
  ])
  const others = [
    { what: 'Stint, 401', server: stint, ...mark, key: 'stint_no', connections: 64 },
    ...both('422', '/v1/start', '{"process":""}', 64),
    ...[1, 10, 50].flatMap((n) => both(`metrics × ${n}`, '/v1/metrics', metrics(n), 64)),
    ...both('exception of 1 kB', '/v1/exception', exception(1000), 64),
    ...both('exception of 15 kB', '/v1/exception', exception(15_000), 64),
    ...both('batch × 100', '/v1/batch', batch(100), 16),
  ]
  const only = new RegExp(values.only)
  const isAsked = (one: Case) => only.test(`${one.what} · ${one.connections}`)
  const asked = [...all, ...others].filter(isAsked)
  // The base of all ratios, for each number of connections.
  const counts = new Set(asked.map(({ connections }) => connections))
  const bases = [...counts].map((connections): Case => ({ what: MINIMAL, server: minimal, ...mark, connections }))
  return [...bases, ...asked.filter(({ what }) => what !== MINIMAL)]
}

async function measureAll(cases: readonly Case[]) {
  for (const one of cases) await measure(one, WARM_UP_SECONDS)
  const measured = cases.map((): Figures[] => [])
  for (let round = 1; round <= rounds; round++) {
    for (const [i, one] of cases.entries()) measured[i]!.push(await measure(one, seconds))
    say(`round ${round} of ${rounds}`)
  }
  const baseOf = ({ connections }: Case) =>
    measured[cases.findIndex((one) => one.what === MINIMAL && one.connections === connections)]!
  return cases.map((one, i) => {
    const all = measured[i]!
    const of = (key: keyof Figures, digits = 0) => Number(median(all.map((figures) => figures[key])).toFixed(digits))
    const ratios = all.map(({ cpuUs }, round) => cpuUs / baseOf(one)[round]!.cpuUs)
    return {
      'CPU ratio': Number(median(ratios).toFixed(2)),
      what: one.what,
      connections: one.connections,
      'CPU µs': of('cpuUs', 1),
      'CPU µs stored': of('storedUs', 1),
      'requests/s': of('perSecond'),
      'p50 ms': of('p50Ms', 1),
      'p99 ms': of('p99Ms', 1),
      'p999 ms': of('p999Ms', 1),
      'commits/s': of('commitsPerSecond'),
      'RSS MB': of('rssMb'),
      unexpected: all.reduce((sum, { unexpected }) => sum + unexpected, 0),
    }
  })
}

const before = surroundings()
const servers: Servers = {
  minimal: await startRival('minimal'),
  durable: await startRival('durable'),
  bare: await startRival('bare'),
  app: await startRival('app'),
  stint: await startStint(ROOT, join(dir, 'data')),
  beside: values.beside === undefined ? undefined : await startStint(values.beside, join(dir, 'beside')),
}
try {
  const rows = await measureAll(casesOf(servers))
  const started = rows.find(({ what, connections }) => what === 'Stint, start' && connections === 64)
  const rate = started && Math.round(started['requests/s'] / 2)
  const openLoop = rate && { rate, ...(await measureOpenLoop(servers.stint, rate)) }
  const after = surroundings()
  if (values.json) console.log(JSON.stringify({ before, after, rows, openLoop }))
  else {
    console.log(`\n${inWords(before, after)}\n${rounds} rounds of ${seconds} s, medians\n`)
    console.table(rows)
    if (openLoop) console.log('/v1/start in an open loop on 64 connections:', openLoop)
  }
} finally {
  for (const server of Object.values(servers)) server?.child.kill()
  await Promise.all(Object.values(servers).map((server) => server?.child.exited))
  rmSync(dir, { recursive: true, force: true })
}
