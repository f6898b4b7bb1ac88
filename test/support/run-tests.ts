// `bun run test [ROOM|FILE]…` and `bun run test:slow [ROOM|FILE]…` (`--slow`; `--all` is both): run `bun test` in two
// workers, let its output through, and end with the tests that were left out and why, and with the line `N passed, N
// failed`. With `--retry-files`, for machines whose load is not ours, the files of tests that failed run once more, one
// after the other, when they are at most five: a test that then passes counts as passed and is listed by name. Exits
// with 1 when a test failed, after any error outside of tests, and when STINT_TEST_REQUIRE names what is not here.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { unmetRequirements } from './needs.ts'
import { selectTests } from './select-tests.ts'
import { removeInMemory } from './temp-dir.ts'

/** More would disturb each other by the time they take. Workers keep what files share, such as a running influxd. */
const WORKERS = ['--parallel=2', '--no-isolate']
/** Failures in more files have a cause in common, which the load of the machine is not. */
const REPEATED_FILES_MAX = 5
/** Bun's name for a hook before the tests, which is reported only when it fails. */
const HOOK = '(unnamed)'
const ROOT = join(import.meta.dir, '../..')
const SUMMARY = /^\s*(\d+) (pass|fail|skip|todo|error)s?$/

type Counts = Record<'pass' | 'fail' | 'skip' | 'todo' | 'error', number>

interface Run {
  readonly counts: Counts
  readonly exit: number | string
  /** Names of tests, each with its path. */
  readonly passed: ReadonlySet<string>
  readonly failed: ReadonlySet<string>
  readonly failedFiles: readonly string[]
}

const { sets, options, retriesFiles } = selectTests(process.argv.slice(2), ROOT)
const unmet = unmetRequirements()
if (unmet.length > 0) {
  console.log(
    `STINT_TEST_REQUIRE asks for what is not here:\n  ${unmet.join('\n  ')}\n0 passed, ${unmet.length} failed`,
  )
  process.exit(1)
}

const dir = mkdtempSync(join(tmpdir(), 'stint-tests-'))
const temp = join(dir, 'tmp')
const notes = join(dir, 'notes')
mkdirSync(temp)
for (const folder of [dir, temp]) chmodSync(folder, 0o711) // some tests start processes as a user without rights
writeFileSync(notes, '')
let tests: Bun.Subprocess | undefined
let isStopped = false
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    isStopped = true
    tests?.kill(signal)
  })

let [passed, failed, skipped] = [0, 0, 0]
const recovered: string[] = []
for (const files of sets) if (!isStopped) await runSet(files)
const leftOut = [...new Set(readFileSync(notes, 'utf8').split('\n').filter(Boolean))]
rmSync(dir, { recursive: true, force: true })
removeInMemory()

if (skipped > 0) console.log(`${skipped} tests were skipped`)
for (const line of leftOut) console.log(line)
for (const name of recovered) console.log(`failed at first, passed alone (look into it): ${name}`)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

/** Runs files, the first ones first, and adds to the totals. */
async function runSet(files: readonly string[]): Promise<void> {
  const first = await run('first', [...WORKERS, `--timings=${writeTimings(files)}`, ...options, ...files])
  skipped += first.counts.skip
  let [ok, broken] = [first.counts.pass, Math.max(first.counts.fail, first.counts.error)] // errors count as both
  if (isLoadToBlame(first)) {
    console.log(`\n${broken} failed in ${first.failedFiles.length} of the files, which run once more, alone.\n`)
    const second = await run('second', [...options, ...first.failedFiles])
    const alone = [...first.failed].filter(
      (name) => !second.failed.has(name) && (second.passed.has(name) || name.endsWith(HOOK)),
    )
    const others = [...second.failed].filter((name) => !first.failed.has(name)).length
    recovered.push(...alone)
    ok += alone.length - others
    broken += others - alone.length
    if (second.exit !== 0) broken = Math.max(broken, 1)
  } else if (first.exit !== 0 && broken === 0) {
    console.log(`bun test ended with ${first.exit} although no test failed`)
    broken = 1
  }
  passed += ok
  failed += broken
}

/** A file of milliseconds per test file, by which Bun starts the slowest first; only their order matters. */
function writeTimings(files: readonly string[]): string {
  const path = join(dir, 'timings.json')
  const all = files.map((file, i) => [file.replace(/^\.\//, ''), 1_000 * (files.length - i)])
  writeFileSync(path, JSON.stringify({ version: 1, files: Object.fromEntries(all) }))
  return path
}

/** Whether each failure is of a test with a name, in few files. */
function isLoadToBlame({ counts, failed, failedFiles }: Run): boolean {
  return (
    retriesFiles &&
    !isStopped &&
    failed.size > 0 &&
    failed.size === counts.fail &&
    counts.error === 0 &&
    failedFiles.length <= REPEATED_FILES_MAX
  )
}

/** `name` is that of the report it writes. */
async function run(name: string, args: readonly string[]): Promise<Run> {
  const report = join(dir, `${name}.xml`)
  rmSync(report, { force: true })
  const command = ['test', '--reporter=junit', `--reporter-outfile=${report}`, ...args]
  const child = Bun.spawn([process.execPath, ...command], {
    cwd: ROOT,
    env: { ...process.env, STINT_TEST_NOTES: notes, STINT_TEST_TEMP: temp, TMPDIR: temp },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  tests = child
  const counts: Counts = { pass: 0, fail: 0, skip: 0, todo: 0, error: 0 }
  await Promise.all([pass(child.stdout, process.stdout, counts), pass(child.stderr, process.stderr, counts)])
  const exit = child.signalCode ?? (await child.exited)
  return { counts, exit, ...readReport(existsSync(report) ? readFileSync(report, 'utf8') : '') }
}

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

/** Bun's JUnit report: a `testcase` per test, which holds a `failure` where it failed. */
function readReport(xml: string): Pick<Run, 'passed' | 'failed' | 'failedFiles'> {
  const [passed, failed, failedFiles] = [new Set<string>(), new Set<string>(), new Set<string>()]
  for (const [, attributes = '', body = ''] of xml.matchAll(/<testcase ([^>]*?)(?:\/>|>(.*?)<\/testcase>)/gs)) {
    const {
      file = '',
      classname,
      name,
    } = Object.fromEntries([...attributes.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, decode(value!)]))
    const full = [file, classname, name].filter((part) => part !== '').join(' > ')
    if (body.includes('<failure')) {
      failed.add(full)
      failedFiles.add(resolve(ROOT, file))
    } else if (!body.includes('<skipped')) passed.add(full)
  }
  return { passed, failed, failedFiles: [...failedFiles] }
}

function decode(text: string): string {
  const characters: Readonly<Record<string, string>> = { quot: '"', apos: "'", lt: '<', gt: '>', amp: '&' }
  return text.replaceAll(/&(\w+);/g, (entity, name) => characters[name] ?? entity)
}
