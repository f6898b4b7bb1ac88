// `bun run bench neighbours [--seconds N] [--rounds N] [--only TEXT] [--json]`: what a second account notices of each
// attack of the first. It sends single events at a fixed rate (an open loop: latency counts from when a request was due)
// and asks for its own metrics, one question at a time, in turn with and without the attack. An attack that is plain load
// takes place in either case, without it on another server of the machine. Medians of the rounds.
import { parseArgs } from 'node:util'
import { type Caller, createStintProcess, type Env, type StintProcess } from '../support/process.ts'
import { memoryOf } from '../support/process-figures.ts'
import { ATTACKS, type Attack, type Attacker, FULL_SPOOL } from './attacks.ts'
import { inWords, median, surroundings } from './machine.ts'

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
  },
})
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)]
const say = (text: string) => process.stderr.write(`${text}\n`)

const RATE = 200
const CONNECTIONS = 16
const PASSWORD = 'a long enough password of a test'
const SETTINGS = { NODE_ENV: 'production', LOG_LEVEL: 'error', SIGNUP: 'open' }
/** Nobody listens at the port of "discard". */
const AWAY = { CLICKHOUSE_URL: 'http://127.0.0.1:9', SPOOL_MAX_BYTES: '64MiB' }

interface Figures {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly refused: number
  readonly unanswered: number
  readonly questionP50Ms: number
  readonly questionP99Ms: number
}

/** An attacker and the server that it attacks. */
interface Target {
  readonly stint: StintProcess
  readonly attacker: Attacker
}

async function measure(url: string, neighbour: Caller): Promise<Figures> {
  const body = JSON.stringify({ process: 'nightly import', items: { rows: 1 } })
  const request = `POST /v1/metrics HTTP/1.1\r\nhost: a\r\nx-stint-api-key: ${neighbour.secret}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  const args = [new URL(url).port, RATE, seconds, CONNECTIONS].map(String)
  const load = Bun.spawn([process.execPath, `${import.meta.dir}/open-loop.ts`, ...args], {
    stdin: Buffer.from(request),
    stderr: 'inherit',
  })
  const times: number[] = []
  const end = performance.now() + seconds * 1000
  while (performance.now() < end) {
    const from = performance.now()
    await (await neighbour.get('/api/metrics?process=nightly%20import&from=-1m&limit=10')).arrayBuffer()
    times.push(performance.now() - from)
    await Bun.sleep(20)
  }
  const { sent, answered, refused, p50Ms, p99Ms } = (await new Response(load.stdout).json()) as Record<string, number>
  times.sort((a, b) => a - b)
  return {
    p50Ms: p50Ms!,
    p99Ms: p99Ms!,
    refused: refused!,
    unanswered: sent! - answered!,
    questionP50Ms: times[times.length >> 1]!,
    questionP99Ms: times[Math.floor(0.99 * (times.length - 1))]!,
  }
}

const medianOf = (all: readonly Figures[], of: (figures: Figures) => number) => Number(median(all.map(of)).toFixed(1))
const sum = (all: readonly Figures[], of: (figures: Figures) => number) =>
  all.reduce((total, each) => total + of(each), 0)

async function countAccepted(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return [...text.matchAll(/^stint_events_accepted_total\{.*\} (\d+)/gm)].reduce(
    (total, it) => total + Number(it[1]),
    0,
  )
}

/** The neighbour's figures while this target is attacked, and the events per second that the target accepts. */
async function measureUnder(attack: Attack, { stint, attacker }: Target, url: string, neighbour: Caller) {
  const stop = await attack.start(attacker)
  const before = await countAccepted(stint.url)
  const figures = await measure(url, neighbour)
  const acceptedPerS = ((await countAccepted(stint.url)) - before) / seconds
  const memory = memoryOf(stint.pid()).now
  await stop()
  return { ...figures, acceptedPerS, memory }
}

async function compare(attack: Attack, target: Target, neighbour: Caller, other: Target | undefined) {
  const { stint } = target
  await attack.prepare?.(target.attacker)
  const quiet: Figures[] = []
  const under: Awaited<ReturnType<typeof measureUnder>>[] = []
  for (let round = 0; round < rounds; round++) {
    quiet.push(await (other ? measureUnder(attack, other, stint.url, neighbour) : measure(stint.url, neighbour)))
    under.push(await measureUnder(attack, target, stint.url, neighbour))
    say(`${attack.name}: p99 ${quiet.at(-1)!.p99Ms.toFixed(1)} → ${under.at(-1)!.p99Ms.toFixed(1)} ms`)
  }
  const both = (of: (figures: Figures) => number) => `${medianOf(quiet, of)} → ${medianOf(under, of)}`
  return {
    attack: attack.name,
    'p50 ms': both((figures) => figures.p50Ms),
    'p99 ms': both((figures) => figures.p99Ms),
    'question p50 ms': both((figures) => figures.questionP50Ms),
    'question p99 ms': both((figures) => figures.questionP99Ms),
    refused: sum(under, (figures) => figures.refused),
    unanswered: sum(under, (figures) => figures.unanswered),
    'accepted/s': Math.round(median(under.map(({ acceptedPerS }) => acceptedPerS))),
    'RSS MB': Math.round(Math.max(...under.map(({ memory }) => memory)) / 1e6),
  }
}

async function startTarget(stint: StintProcess): Promise<Target> {
  await stint.start()
  const attacker = await stint.signUp('eve@example.com')
  const session = await fetch(`${stint.url}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'eve@example.com', password: PASSWORD }),
  })
  const cookie = session.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
  return { stint, attacker: { ...attacker, url: stint.url, cookie } }
}

/** Each attack meets a server of its own: what one of them stored does not weigh on the next. */
async function run(attack: Attack, settings: Env) {
  const servers = [createStintProcess(settings), ...(attack.isPlainLoad ? [createStintProcess(settings)] : [])]
  try {
    const [target, other] = await Promise.all(servers.map(startTarget))
    return await compare(attack, target!, await target!.stint.signUp('ada@example.com'), other)
  } finally {
    for (const stint of servers) {
      await stint.terminate() // gives its NODE_ID back
      await stint.close()
    }
  }
}

const before = surroundings()
const rows: Awaited<ReturnType<typeof run>>[] = []
for (const attack of [...ATTACKS, FULL_SPOOL])
  if (attack.name.includes(values.only))
    rows.push(await run(attack, attack === FULL_SPOOL ? { ...SETTINGS, ...AWAY } : SETTINGS))
const after = surroundings()
if (values.json) console.log(JSON.stringify({ before, after, rows }))
else {
  console.log(
    `\n${inWords(before, after)}\n${RATE}/s on ${CONNECTIONS} connections, ${rounds} rounds of ${seconds} s, medians\n`,
  )
  console.table(rows)
}
process.exit(0)
