// `bun run test`: runs `bun test` with the arguments it gets, lets its output through, and ends with what was left out and why,
// and with the line `N passed, N failed`. Fails when a test fails, and when STINT_TEST_REQUIRE names something that is not here.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unmetRequirements } from './needs.ts'
import { removeInMemory } from './temp-dir.ts'

/** Generous: what is slow on a busy machine is not wrong. */
const TEST_TIMEOUT_MS = 30_000
const SUMMARY = /^\s*(\d+) (pass|fail|skip|todo|error)s?$/

type Counts = Record<'pass' | 'fail' | 'skip' | 'todo' | 'error', number>

/** Copies a stream as it comes and counts by the lines of Bun's summary; the last summary of the stream stands. */
async function pass(from: ReadableStream<Uint8Array>, to: NodeJS.WriteStream, counts: Counts): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of from) {
    to.write(chunk)
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop()!
    for (const line of lines) count(line, counts)
  }
  count(rest, counts)
}

function count(line: string, counts: Counts): void {
  const match = SUMMARY.exec(Bun.stripANSI(line))
  if (match !== null) counts[match[2] as keyof Counts] = Number(match[1])
}

const unmet = unmetRequirements()
if (unmet.length > 0) {
  console.log(
    `STINT_TEST_REQUIRE asks for what is not here:\n  ${unmet.join('\n  ')}\n0 passed, ${unmet.length} failed`,
  )
  process.exit(1)
}

const dir = mkdtempSync(join(tmpdir(), 'stint-tests-'))
const notes = join(dir, 'notes')
writeFileSync(notes, '')
const temp = join(dir, 'tmp')
mkdirSync(temp)
for (const folder of [dir, temp]) chmodSync(folder, 0o711) // some tests start processes as a user without rights

/** Two, since most tests wait for a store or a browser; workers keep what files share, such as a running influxd. */
const WORKERS = ['--parallel=2', '--no-isolate']

const tests = Bun.spawn(
  [process.execPath, 'test', `--timeout=${TEST_TIMEOUT_MS}`, ...WORKERS, ...process.argv.slice(2)],
  {
    cwd: join(import.meta.dir, '../..'),
    env: { ...process.env, STINT_TEST_NOTES: notes, STINT_TEST_TEMP: temp, TMPDIR: temp },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  },
)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tests.kill(signal))

const counts: Counts = { pass: 0, fail: 0, skip: 0, todo: 0, error: 0 }
await Promise.all([pass(tests.stdout, process.stdout, counts), pass(tests.stderr, process.stderr, counts)])
const exitCode = await tests.exited
const leftOut = readFileSync(notes, 'utf8')
rmSync(dir, { recursive: true, force: true })
removeInMemory()

let failed = Math.max(counts.fail, counts.error) // an error between tests counts as both
if (exitCode !== 0 && failed === 0) {
  console.log(`bun test ended with ${tests.signalCode ?? exitCode} although no test failed`)
  failed = 1
}
if (counts.skip > 0) console.log(`${counts.skip} tests were skipped`)
process.stdout.write(leftOut)
console.log(`${counts.pass} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
