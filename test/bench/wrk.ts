// One run of wrk, the closed-loop load of the benchmarks: as many requests at once as there are connections, each sent when the one before was
// answered. It has a core of its own where the machine has two.
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'

if (Bun.which('wrk') === null) throw new Error('the benchmark needs wrk (Debian: apt-get install wrk)')

export interface Shot {
  readonly path: string
  readonly body: string
  readonly key: string
}

export interface WrkFigures {
  readonly requests: number
  /** Duration of the run. */
  readonly us: number
  readonly p50Us: number
  readonly p99Us: number
  readonly p999Us: number
  /** Answers of a status other than 2xx and 3xx. */
  readonly unexpected: number
}

export const SERVER_CORE = 0
const LOAD_CORE = 1

/** The command on this core; unpinned on a machine with one core. */
export const pinned = (core: number, command: readonly string[]): string[] =>
  cpus().length > 1 ? ['taskset', '-c', String(core), ...command] : [...command]

const script = ({ body, key }: Shot) => `
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.headers["x-stint-api-key"] = ${JSON.stringify(key)}
wrk.body = [==[${body}]==]
function done(summary, latency)
  io.write(string.format('\\n{"requests":%d,"us":%d,"p50Us":%d,"p99Us":%d,"p999Us":%d,"unexpected":%d}\\n', summary.requests,
    summary.duration, latency:percentile(50), latency:percentile(99), latency:percentile(99.9), summary.errors.status))
end`

/** `dir` keeps the script of the run. `core` is the load's, undefined: any. */
export async function runWrk(
  url: string,
  shot: Shot,
  connections: number,
  seconds: number,
  dir: string,
  core: number | undefined = LOAD_CORE,
): Promise<WrkFigures> {
  const lua = join(dir, `${crypto.randomUUID()}.lua`)
  writeFileSync(lua, script(shot))
  const command = ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '-s', lua, url + shot.path]
  const wrk = Bun.spawn(core === undefined ? command : pinned(core, command), { stderr: 'inherit' })
  const line = (await new Response(wrk.stdout).text()).split('\n').find((text) => text.startsWith('{"requests"'))
  if (line === undefined) throw new Error('wrk printed no figures')
  return JSON.parse(line) as WrkFigures
}
