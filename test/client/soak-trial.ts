// Rounds of callers of both clients that end in every way while the server is killed and restarted. Each caller writes
// down what it has sent and what was reported to it as dropped; every event must be in exactly one place afterwards.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findNode, findPython } from '../support/needs.ts'
import { type Caller, createStintProcess, type StintProcess } from '../support/process.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'
import { writeClient } from './client-cast.ts'

const ENDINGS = ['return', 'exception', 'exit', 'SIGTERM'] as const
const CLIENTS = ['typescript', 'python'] as const
const PYTHON_CLIENT = join(import.meta.dir, '../../src/client/python')
/** Little memory, so that a server that is away makes drops; much time at the end, so that nothing is in doubt. */
const MAX_BYTES = 60_000
const EXIT_WAIT_MS = 90_000

const TYPESCRIPT = `
import { openSync, writeSync } from 'node:fs'
import { createStint } from './stint.mjs'
const [name, log, ending, runs] = process.argv.slice(2)
const fd = openSync(log, 'w')
const onDrop = ({ kind, uid }) => writeSync(fd, 'dropped ' + kind + ' ' + uid + '\\n')
const stint = createStint({ maxBytes: ${MAX_BYTES}, exitWaitMs: ${EXIT_WAIT_MS}, flushMs: 50, onDrop })
for (let i = 1; i <= Number(runs); i++) {
  const isLast = i === Number(runs)
  if (isLast && ending === 'exception') writeSync(fd, 'sent exception ' + i + '\\n')
  writeSync(fd, ['start', 'metrics', 'end'].map((kind) => 'sent ' + kind + ' ' + i + '\\n').join(''))
  await stint.run(name, { uid: String(i) }, async () => {
    stint.metrics({ i })
    if (isLast && ending === 'exception') throw new Error('on purpose')
  })
  await new Promise((resolve) => setTimeout(resolve, 4))
}
if (ending === 'exit') process.exit(0)
if (ending === 'SIGTERM') {
  setInterval(() => {}, 1000)
  process.kill(process.pid, 'SIGTERM')
}
`
const PYTHON = `
import os, signal, sys, time, stint
name, log, ending, runs = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
fd = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
def drop(event, reason):
    os.write(fd, f"dropped {event['kind']} {event['uid']}\\n".encode())
client = stint.Stint(max_bytes=${MAX_BYTES}, exit_wait_ms=${EXIT_WAIT_MS}, flush_ms=50, on_drop=drop)
for i in range(1, runs + 1):
    fails = i == runs and ending == "exception"
    kinds = ["start", "metrics", "end"] + (["exception"] if fails else [])
    os.write(fd, "".join(f"sent {kind} {i}\\n" for kind in kinds).encode())
    with client.run(name, uid=str(i)) as run:
        run.metrics({"i": i})
        if fails:
            raise RuntimeError("on purpose")
    time.sleep(0.004)
if ending == "exit":
    sys.exit(0)
if ending == "SIGTERM":
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)
`

export interface SoakResult {
  readonly sent: number
  readonly arrived: number
  readonly dropped: number
  /** Events that are in neither place or in both, as `CALLER: KIND UID`. */
  readonly lost: readonly string[]
  readonly doubled: readonly string[]
  readonly kills: number
}

/** `runs` of each round are shared by a caller per client and ending. Returns when everything sent is accounted for. */
export async function soakClients(rounds: number, runs: number): Promise<SoakResult> {
  const dir = tempDir('soak')
  await writeClient(dir)
  await Bun.write(join(dir, 'caller.mjs'), TYPESCRIPT)
  await Bun.write(join(dir, 'caller.py'), PYTHON)
  await using server = createStintProcess({ LOG_LEVEL: 'warn' })
  await server.start()
  const who = await server.signUp('ada@example.com')
  const result = { sent: 0, arrived: 0, dropped: 0, lost: [] as string[], doubled: [] as string[], kills: 0 }
  for (let round = 0; round < rounds; round++) {
    const names = await playRound(server, who, dir, round, runs)
    result.kills++
    for (const name of names) await account(who, name, join(dir, name), result)
  }
  return result
}

async function playRound(
  server: StintProcess,
  { secret }: Caller,
  dir: string,
  round: number,
  runs: number,
): Promise<string[]> {
  const each = Math.ceil(runs / (ENDINGS.length * CLIENTS.length))
  const { PATH = '', HOME = '' } = process.env
  const python = { PYTHONPATH: PYTHON_CLIENT, PYTHONDONTWRITEBYTECODE: '1' }
  const env = { PATH, HOME, STINT_URL: server.url, STINT_API_KEY: secret, STINT_BACKLOG: '0', ...python }
  const callers = CLIENTS.flatMap((client) =>
    ENDINGS.map((ending) => {
      const name = `${client}-${ending}-${round}`
      const program =
        client === 'python'
          ? [findPython()!, join(dir, 'caller.py')]
          : [findNode() ?? process.execPath, join(dir, 'caller.mjs')]
      const words = [...program, name, join(dir, name), ending, String(each)]
      return { name, child: Bun.spawn(words, { env, stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' }) }
    }),
  )
  const progress = () => callers.reduce((sum, { name }) => sum + linesOf(join(dir, name)).length, 0)
  const killAt = Math.random() * 2.5 * runs
  await until('the callers are in the middle of their work', () => progress() >= killAt, 120_000)
  await server.kill()
  await server.start()
  await Promise.all(callers.map(({ child }) => child.exited))
  return callers.map(({ name }) => name)
}

/** Adds the events of one caller to the result. Waits until the store shows all that is not reported as dropped. */
async function account(
  who: Caller,
  name: string,
  log: string,
  result: { sent: number; arrived: number; dropped: number; lost: string[]; doubled: string[] },
): Promise<void> {
  const named = (verb: string) =>
    linesOf(log).flatMap((line) => (line.startsWith(`${verb} `) ? [line.slice(verb.length + 1)] : []))
  const [sent, dropped] = [named('sent'), new Set(named('dropped'))]
  let stored = new Set<string>()
  const missing = () => sent.filter((event) => !stored.has(event) && !dropped.has(event))
  await until(
    `${name} is stored`,
    async () => {
      stored = await findStored(who, name)
      return missing().length === 0
    },
    20_000,
    300,
  ).catch(() => {}) // the result names what is missing
  result.sent += sent.length
  result.arrived += stored.size
  result.dropped += dropped.size
  result.lost.push(...missing().map((event) => `${name}: ${event}`))
  result.doubled.push(...[...dropped].filter((event) => stored.has(event)).map((event) => `${name}: ${event}`))
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').slice(0, -1)
  } catch {
    return [] // it has not begun
  }
}

/** The events of a process as `KIND UID`. */
async function findStored(who: Caller, process_: string): Promise<Set<string>> {
  const ask = async (path: string) => {
    const question = new URLSearchParams({ process: process_, from: '-6h', limit: '1000' })
    const answer = await who.get(`/api/${path}?${question}`)
    return (await answer.json()) as Readonly<Record<string, readonly Record<string, unknown>[]>>
  }
  const { timings = [] } = await ask('timings')
  const { points = [] } = await ask('metrics')
  const { exceptions = [] } = await ask('exceptions')
  const marks = timings.flatMap(({ uid, state }) => [
    ...(state === 'orphan' ? [] : [`start ${uid}`]),
    ...(state === 'running' || state === 'abandoned' ? [] : [`end ${uid}`]),
  ])
  const metrics = points.map(({ value }) => `metrics ${value}`)
  return new Set([...marks, ...metrics, ...exceptions.map(({ uid }) => `exception ${uid}`)])
}
