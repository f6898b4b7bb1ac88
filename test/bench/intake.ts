// `bun run bench intake [--seconds N] [--rounds N] [--away] [--json]`: durable intake beside its rivals, all in one run. The server has one core and the load the
// other, as far as the machine has two. A figure of a noisy machine is worth its ratio to the rivals of the same run, no more.
// `--away`: the stores do not answer, so that nothing is stored meanwhile and the spool stands alone.
import { rmSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { cpuMs, memoryOf } from '../support/process-figures.ts'
import { tempDir } from '../support/temp-dir.ts'
import { inWords, surroundings } from './machine.ts'

interface Target {
  readonly name: string
  readonly port: number
  readonly pid: number
}

interface Shot {
  readonly path: string
  readonly body: string
  readonly key?: string
  readonly eventsARequest?: number
}

interface Row {
  readonly what: string
  readonly server: string
  readonly connections: number
  readonly perSecond: number
  readonly eventsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  readonly cpuUs: number
  readonly commitsPerSecond: number | undefined
  readonly rssMb: number
  readonly unexpected: number
}

const { values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => arg !== 'intake'),
  options: {
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '5' },
    away: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
const seconds = Number(values.seconds)
const rounds = Number(values.rounds)
const say = (text: string) => process.stderr.write(`${text}\n`)
const dir = tempDir('bench')
const hasTwoCores = cpus().length > 1
const pinned = (core: number, command: string[]) =>
  hasTwoCores ? ['taskset', '-c', String(core), ...command] : command
const AWAY = { CLICKHOUSE_URL: 'http://127.0.0.1:1', CLICKHOUSE_USER: 'bench', CLICKHOUSE_PASSWORD: 'bench' }

if (Bun.which('wrk') === null) throw new Error('the benchmark needs wrk (Debian: apt-get install wrk)')

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

/** What the pattern finds first in a server's output. */
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

async function startRival(name: 'bare' | 'synced' | 'elysia', key: string) {
  const child = Bun.spawn(pinned(0, [process.execPath, join(import.meta.dir, 'rivals.ts'), name]), {
    env: { ...process.env, NODE_ENV: 'production', BENCH_KEY: key },
    stderr: 'inherit',
  })
  return { child, target: { name, port: Number(await readOutput(child.stdout, /^(\d+)\n/)), pid: child.pid } }
}

async function startStint() {
  const child = Bun.spawn(pinned(0, [process.execPath, join(import.meta.dir, '../../src/main.ts')]), {
    env: { ...process.env, NODE_ENV: 'production', PORT: '0', DATA_DIR: join(dir, 'data'), ...(values.away && AWAY) },
    stderr: 'inherit',
  })
  const url = await readOutput(child.stdout, /"url":"([^"]+)"/)
  const answer = await fetch(`${url}/api/accounts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'bench@example.com', password: crypto.randomUUID() }),
  })
  const { key } = (await answer.json()) as { key: { secret: string } }
  return { child, key: key.secret, target: { name: 'stint', port: Number(new URL(url).port), pid: child.pid } }
}

async function commits(target: Target): Promise<number | undefined> {
  if (target.name !== 'stint') return undefined
  const text = await (await fetch(`http://127.0.0.1:${target.port}/metrics`)).text()
  return [...text.matchAll(/^stint_commit_seconds_count\{.*\} (\d+)/gm)].reduce(
    (sum, match) => sum + Number(match[1]),
    0,
  )
}

/** wrk prints its figures as one line of JSON. */
const script = (shot: Shot, key: string) => `
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.headers["x-stint-api-key"] = ${JSON.stringify(shot.key ?? key)}
wrk.body = ${luaString(shot.body)}
function done(summary, latency)
  io.write(string.format('\\n{"requests":%d,"us":%d,"p50":%d,"p99":%d,"p999":%d,"unexpected":%d}\\n', summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9), summary.errors.status))
end`
const luaString = (text: string) => `[==[${text}]==]`

async function measure(what: string, target: Target, shot: Shot, key: string, connections: number): Promise<Row> {
  const lua = join(dir, 'shot.lua')
  writeFileSync(lua, script(shot, key))
  const run = async (s: number) => {
    const url = `http://127.0.0.1:${target.port}${shot.path}`
    const wrk = Bun.spawn(pinned(1, ['wrk', '-t1', `-c${connections}`, `-d${s}s`, '-s', lua, url]), {
      stderr: 'inherit',
    })
    const line = (await new Response(wrk.stdout).text()).split('\n').find((text) => text.startsWith('{"requests"'))
    if (line === undefined) throw new Error('wrk printed no figures')
    return JSON.parse(line) as Record<'requests' | 'us' | 'p50' | 'p99' | 'p999' | 'unexpected', number>
  }
  await run(1)
  const [cpuBefore, commitsBefore] = [cpuMs(target.pid), await commits(target)]
  const figures = await run(seconds)
  const cpu = cpuMs(target.pid) - cpuBefore
  const commitsAfter = await commits(target)
  const perSecond = figures.requests / (figures.us / 1e6)
  return {
    what,
    server: target.name,
    connections,
    perSecond: Math.round(perSecond),
    eventsPerSecond: Math.round(perSecond * (shot.eventsARequest ?? 1)),
    p50Ms: figures.p50 / 1000,
    p99Ms: figures.p99 / 1000,
    p999Ms: figures.p999 / 1000,
    cpuUs: Number(((cpu / figures.requests) * 1000).toFixed(1)),
    commitsPerSecond:
      commitsAfter === undefined ? undefined : Math.round((commitsAfter - commitsBefore!) / (figures.us / 1e6)),
    rssMb: Math.round(memoryOf(target.pid).now / 2 ** 20),
    unexpected: figures.unexpected,
  }
}

async function measureOpenLoop(target: Target, key: string, rate: number) {
  const request = [
    'POST /v1/start HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    `X-Stint-Api-Key: ${key}`,
    `Content-Length: ${Buffer.byteLength(MARK)}`,
    '',
    MARK,
  ].join('\r\n')
  const load = Bun.spawn(
    pinned(1, [
      process.execPath,
      join(import.meta.dir, 'open-loop.ts'),
      String(target.port),
      String(rate),
      String(seconds),
      '64',
    ]),
    { stdin: Buffer.from(request), stderr: 'inherit' },
  )
  return JSON.parse(await new Response(load.stdout).text()) as Record<string, number>
}

const before = surroundings()
const stint = await startStint()
const bare = await startRival('bare', stint.key)
const synced = await startRival('synced', stint.key)
const elysia = await startRival('elysia', stint.key)
const rows: Row[] = []
const start: Shot = { path: '/v1/start', body: MARK }
interface Case {
  readonly what: string
  readonly target: Target
  readonly shot: Shot
}

const medianOf = <T>(values: readonly T[], by: (value: T) => number): T =>
  values.toSorted((a, b) => by(a) - by(b))[Math.floor(values.length / 2)]!

/** A figure holds the storing of its own events, and not of those before it. */
async function add(what: string, target: Target, shot: Shot, connections: number): Promise<Row> {
  const [row] = await addInTurn([{ what, target, shot }], connections, 1)
  return row!.at(-1)!
}

/** Measures the cases one after the other, again and again, for a machine changes its pace; each is shown by its median round. All rounds of each case. */
async function addInTurn(cases: readonly Case[], connections: number, rounds: number): Promise<Row[][]> {
  const measured: Row[][] = cases.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [i, { what, target, shot }] of cases.entries()) {
      await settle()
      const row = await measure(what, target, shot, stint.key, connections)
      measured[i]!.push(row)
      say(`${what} · ${target.name} · ${connections} connections: ${row.perSecond}/s`)
    }
  }
  rows.push(...measured.map((all) => medianOf(all, (row) => row.perSecond)))
  return measured
}
try {
  const rivals = [bare, synced, elysia, stint].map(({ target }) => ({ what: 'start', target, shot: start }))
  const refused = { what: '401', target: stint.target, shot: { ...start, key: 'stint_no' } }
  await addInTurn(rivals, 1, 1)
  const [bareRounds, syncedRounds, elysiaRounds, stintRounds, refusedRounds] = await addInTurn(
    [...rivals, refused],
    64,
    rounds,
  )
  await addInTurn(rivals, 256, 1)
  await addInTurn(rivals, 1024, 1)
  await add('422', stint.target, { path: '/v1/start', body: '{"process":""}' }, 64)
  for (const n of [1, 10, 50]) await add(`metrics × ${n}`, stint.target, { path: '/v1/metrics', body: metrics(n) }, 64)
  for (const [name, bytes] of [
    ['1 kB', 1000],
    ['15 kB', 15_000],
  ] as const)
    await add(`exception ${name}`, stint.target, { path: '/v1/exception', body: exception(bytes) }, 64)
  await add('batch × 100', stint.target, { path: '/v1/batch', body: batch(100), eventsARequest: 100 }, 16)
  const again = await add('start again', stint.target, start, 64)
  const half = Math.round(again.perSecond / 2)
  await settle()
  const open = await measureOpenLoop(stint.target, stint.key, half)

  const ratio = (ours: Row[] | undefined, theirs: Row[] | undefined) =>
    medianOf(
      ours!.map((row, round) => row.perSecond / theirs![round]!.perSecond),
      (value) => value,
    )
  const ratios = {
    stintToBare: ratio(stintRounds, bareRounds),
    stintToSynced: ratio(stintRounds, syncedRounds),
    syncedToBare: ratio(syncedRounds, bareRounds),
    stintToElysia: ratio(stintRounds, elysiaRounds),
    unauthorizedToBare: ratio(refusedRounds, bareRounds),
  }
  const after = surroundings()
  if (values.json) console.log(JSON.stringify({ before, after, rows, ratios, openLoop: { rate: half, ...open } }))
  else {
    console.log(`\n${inWords(before, after)}\n`)
    console.table(rows)
    console.log('ratios at 64 connections, the median of each round’s:', ratios)
    console.log(`open loop, ${half} requests a second on 64 connections:`, open)
  }
} finally {
  for (const { child } of [stint, bare, synced, elysia]) child.kill()
  await Promise.all([stint, bare, synced, elysia].map(({ child }) => child.exited))
  rmSync(dir, { recursive: true, force: true })
}

/** Waits until all that was accepted is stored. */
async function settle(): Promise<void> {
  if (values.away) return
  for (;;) {
    const text = await (await fetch(`http://127.0.0.1:${stint.target.port}/metrics`)).text()
    if ([...text.matchAll(/^stint_spool_records\{.*\} (\d+)/gm)].every((match) => match[1] === '0')) return
    await Bun.sleep(200)
  }
}
