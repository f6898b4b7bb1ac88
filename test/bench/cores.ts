// `bun run bench cores [--seconds N] [--rounds N]`: `/v1/start` at one process, which may use every core, and at two processes with a NODE_ID and a
// DATA_DIR each, by turns; the stores are away. 64 connections in all. Two ports replace one that both share: the kernel would spread the
// connections in the same way. The load needs a core, too, so on two cores the processes have one and a half of them.
import { rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Caller, createStintProcess, type StintProcess } from '../support/process.ts'
import { cpuMs } from '../support/process-figures.ts'
import { tempDir } from '../support/temp-dir.ts'
import { inWords, median, surroundings } from './machine.ts'
import { runWrk } from './wrk.ts'

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: { seconds: { type: 'string', default: '3' }, rounds: { type: 'string', default: '7' } },
})
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)]
const CONNECTIONS = 64
const BODY = JSON.stringify({
  process: 'nightly import',
  meta: 'region eu',
  uid: '3f2a9c1e-1b2c-4d5e-8f90-123456789abc',
})
const dir = tempDir('bench')

interface Node {
  readonly stint: StintProcess
  readonly caller: Caller
}

interface Figures {
  readonly perSecond: number
  readonly cpuUs: number
  readonly p99Ms: number
}

async function startNode(id: number): Promise<Node> {
  const stint = createStintProcess({
    NODE_ENV: 'production',
    LOG_LEVEL: 'error',
    NODE_ID: String(id),
    CLICKHOUSE_URL: 'http://127.0.0.1:9',
  })
  await stint.start()
  return { stint, caller: await stint.signUp('bench@example.com') }
}

const load = ({ stint, caller }: Node, connections: number, s: number) =>
  runWrk(stint.url, { path: '/v1/start', body: BODY, key: caller.secret }, connections, s, dir, undefined)

async function measure(nodes: readonly Node[], s = seconds): Promise<Figures> {
  const cpu = () => nodes.reduce((sum, { stint }) => sum + cpuMs(stint.pid()), 0)
  const before = cpu()
  const all = await Promise.all(nodes.map((node) => load(node, CONNECTIONS / nodes.length, s)))
  const requests = all.reduce((sum, one) => sum + one.requests, 0)
  return {
    perSecond: all.reduce((sum, one) => sum + one.requests / (one.us / 1e6), 0),
    cpuUs: ((cpu() - before) / requests) * 1000,
    p99Ms: Math.max(...all.map((one) => one.p99Us)) / 1000,
  }
}

const before = surroundings()
const nodes = [await startNode(0), await startNode(1), await startNode(2)]
try {
  const cases = { 'one process': nodes.slice(0, 1), 'two processes': nodes.slice(1) }
  const measured = Object.values(cases).map((): Figures[] => [])
  for (const used of Object.values(cases)) await measure(used, 1)
  for (let round = 0; round < rounds; round++)
    for (const [i, used] of Object.values(cases).entries()) measured[i]!.push(await measure(used))
  console.log(
    `\n${inWords(before, surroundings())}\n${rounds} rounds of ${seconds} s, medians; ratios to one process in the same round\n`,
  )
  const row = (all: readonly Figures[]) => {
    const ratio = (of: (figures: Figures) => number) =>
      median(all.map((figures, round) => of(figures) / of(measured[0]![round]!))).toFixed(2)
    return {
      'requests/s': Math.round(median(all.map(({ perSecond }) => perSecond))),
      ratio: ratio(({ perSecond }) => perSecond),
      'CPU µs': median(all.map(({ cpuUs }) => cpuUs)).toFixed(1),
      'CPU ratio': ratio(({ cpuUs }) => cpuUs),
      'p99 ms': median(all.map(({ p99Ms }) => p99Ms)).toFixed(1),
    }
  }
  console.table(Object.fromEntries(Object.keys(cases).map((name, i) => [name, row(measured[i]!)])))
} finally {
  for (const { stint } of nodes) await stint.close()
  rmSync(dir, { recursive: true, force: true })
}
process.exit(0)
