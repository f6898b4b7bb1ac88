// `bun run bench copy [--events N] [--kills K]`: fills an embedded engine, copies it to a ClickHouse server (the engine behind the tests' bridge) while `kill -9` ends
// the copy several times, and from there into another embedded engine; all three are asked the same hundred questions. Prints the speed of the last run beside
// that of the sink alone on the same server, and the most memory that a copy held.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Env, runScript, spawnBun } from '../copy/run-stint.ts'
import { someHistory } from '../copy/some-history.ts'
import { startShard } from '../support/clickhouse-shards.ts'
import { memoryOf } from '../support/process-figures.ts'
import { tempDir, useOwnTempDir } from '../support/temp-dir.ts'
import { inWords, surroundings } from './machine.ts'

const { values } = parseArgs({
  options: { events: { type: 'string', default: '200000' }, kills: { type: 'string', default: '3' } },
})
const events = Number(values.events)
const kills = Number(values.kills)
const QUESTIONS = ['100', 'all']

const before = surroundings()
const removeTempDir = useOwnTempDir()
const { address, server } = await startShard()
const settings = (prefix: string, database: string): Env => ({
  [`${prefix}CLICKHOUSE_URL`]: address.url,
  [`${prefix}CLICKHOUSE_USER`]: address.user,
  [`${prefix}CLICKHOUSE_PASSWORD`]: address.password,
  [`${prefix}CLICKHOUSE_DATABASE`]: database,
})

try {
  const source = tempDir('bench-source')
  await runScript('fill-embedded.ts', [String(events)], { DATA_DIR: source })
  const expected = await runScript('ask-questions.ts', QUESTIONS, { DATA_DIR: source })
  report('filled and asked')

  const sinkBefore = await speedOfSink('alone_before')

  const env = { DATA_DIR: source, ...settings('', 'copied') }
  for (let kill = 1; kill <= kills; kill++) {
    const end = await copy('embedded', env, (progress) => progress > (events * kill) / (kills + 1))
    report(`kill ${kill} of the copy at ${end.progress} events, ${inMiB(end.peak)} of memory`)
  }
  const last = await copy('embedded', env)
  report(`the copy ended; its progress file is ${existsSync(join(source, 'copy.json')) ? 'still there' : 'gone'}`)
  const { copied, seconds, comparison } = JSON.parse(last.stdout)
  const rows = Object.values(copied as Record<string, number>).reduce((sum, n) => sum + n, 0)
  report(`missing ${comparison.missing}; ${rows} rows in ${seconds.toFixed(1)} s with the comparison`)
  const sinkAfter = await speedOfSink('alone_after')
  const speed = Math.round(rows / seconds)
  report(`${speed} rows/s, peak ${inMiB(last.peak)}; the sink alone ${sinkBefore} before, ${sinkAfter} after`)
  assertSame(await runScript('ask-questions.ts', QUESTIONS, env), expected)
  report('the server gives the same answers')

  const back: Env = { DATA_DIR: tempDir('bench-back') }
  const returned = await copy('clickhouse', { ...back, ...settings('FROM_', 'copied') })
  assertSame(await runScript('ask-questions.ts', QUESTIONS, back), expected)
  report(
    `the copy back gives the same answers: ${JSON.parse(returned.stdout).seconds.toFixed(1)} s, peak ${inMiB(returned.peak)}`,
  )
  console.log(inWords(before, surroundings()))
} finally {
  await server.kill()
  removeTempDir()
}

/** Rows a second that the sink alone writes to the server. */
async function speedOfSink(database: string): Promise<number> {
  const alone = Math.min(events, 300_000)
  const env = { DATA_DIR: tempDir('bench-sink'), ...settings('', database) }
  const ms = Number(await runScript('fill-embedded.ts', [String(alone), 'once'], env))
  let rows = 0
  for (const event of someHistory(alone)) rows += event.kind === 'metrics' ? event.items.length : 1
  return Math.round((rows / ms) * 1000)
}

interface Ended {
  readonly stdout: string
  /** Bytes. */
  readonly peak: number
  /** Events that the last progress names. */
  readonly progress: number
}

/** Runs `stint copy`, or kills it once its progress is far enough. */
async function copy(from: string, env: Env, isFarEnough?: (events: number) => boolean): Promise<Ended> {
  const child = spawnBun(['src/cli/main.ts', 'copy', '--from', from, '--json'], env)
  const output = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  let peak = 0
  let progress = 0
  const path = join(env.DATA_DIR!, 'copy.json')
  const old = existsSync(path) ? readFileSync(path, 'utf8') : ''
  while (child.exitCode === null && child.signalCode === null) {
    await Bun.sleep(50)
    try {
      const held = memoryOf(child.pid).peak
      if (held > peak) peak = held // none of a process that has just ended
      const text = readFileSync(path, 'utf8')
      if (text !== old) progress = JSON.parse(text).events
    } catch {} // not begun, or ended
    if (isFarEnough?.(progress)) child.kill('SIGKILL')
  }
  const [stdout, stderr] = await output
  if (isFarEnough === undefined && child.exitCode !== 0) throw new Error(stderr)
  return { stdout, peak, progress }
}

function assertSame(answers: string, expected: string): void {
  if (answers === expected) return
  const [ours, theirs] = [answers.split('\n'), expected.split('\n')]
  const at = theirs.findIndex((line, i) => line !== ours[i])
  throw new Error(`another answer:\n${ours[at]}\ninstead of\n${theirs[at]}`)
}

function report(text: string): void {
  console.log(`${(performance.now() / 1000).toFixed(0).padStart(5)} s  ${text}`)
}

function inMiB(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`
}
