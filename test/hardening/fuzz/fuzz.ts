// `bun run test:fuzz [--minutes N] [--seed N]`: schemathesis, with all its checks, against /swagger/json of the real process: positive,
// negative and stateful. Half a minute unless told otherwise. Where it is not installed and cannot be got, it says so and fails only when
// STINT_TEST_REQUIRE holds `schemathesis`. Ends like every test run with the line `N passed, N failed`.
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createStintProcess } from '../../support/process.ts'
import {
  SCHEMATHESIS as PROGRAM,
  SCHEMATHESIS_VENV as VENV,
  SCHEMATHESIS_VERSION as VERSION,
} from './find-schemathesis.ts'

const INSTALL_WITHIN_MS = 180_000
const SHORT_MINUTES = 0.5
/** Generating with coverage takes its time beside --max-time, which only ends what repeats. */
const OVERTIME_MS = 10 * 60_000

const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } }, strict: true })
const minutes = Number(values.minutes ?? SHORT_MINUTES)
if (!(minutes > 0)) throw new Error('--minutes must be a number above zero')

async function install(): Promise<string | undefined> {
  if (existsSync(PROGRAM)) return undefined
  if (Bun.which('python3') === null) return 'there is no python3'
  for (const command of [
    ['python3', '-m', 'venv', VENV],
    [join(VENV, 'bin/pip'), 'install', '--quiet', '--disable-pip-version-check', `schemathesis==${VERSION}`],
  ]) {
    const { exitCode, stderr } = Bun.spawnSync(command, { timeout: INSTALL_WITHIN_MS, stderr: 'pipe' })
    if (exitCode === 0) continue
    rmSync(VENV, { recursive: true, force: true })
    return `\`${command.slice(0, 3).join(' ')}\` failed: ${stderr.toString().trim().split('\n').at(-1)}`
  }
  return undefined
}

const reason = await install()
if (reason !== undefined) {
  const required = (process.env.STINT_TEST_REQUIRE ?? '').split(',').includes('schemathesis')
  console.log(`skipped, for want of schemathesis ${VERSION}: ${reason}\n0 passed, ${required ? 1 : 0} failed`)
  process.exit(required ? 1 : 0)
}

const setupCode = 'a setup code of the fuzzing'
const stint = createStintProcess({ SIGNUP: 'open', TRUST_PROXY: '1', SETUP_CODE: setupCode, LOG_LEVEL: 'error' })
try {
  await stint.start()
  const answer = await fetch(`${stint.url}/api/accounts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'fuzz@example.com', password: 'a long enough password', setup_code: setupCode }),
  })
  const { key } = (await answer.json()) as { key: { secret: string } }
  const session = /stint_session_\d+=(\w+)/.exec(answer.headers.get('set-cookie') ?? '')![1]!
  const fuzz = Bun.spawn(
    [
      PROGRAM,
      '--config-file',
      join(import.meta.dir, 'schemathesis.toml'),
      'run',
      `${stint.url}/swagger/json`,
      '--checks=all',
      '--mode=all',
      '--no-color',
      `--max-time=${Math.ceil(minutes * 60)}`,
      ...(values.seed === undefined ? [] : [`--seed=${values.seed}`]),
    ],
    {
      cwd: stint.dataDir, // where it keeps its database of examples
      env: {
        ...process.env,
        PYTHONDONTWRITEBYTECODE: '1',
        SCHEMATHESIS_HOOKS: join(import.meta.dir, 'stint_hooks.py'),
        STINT_URL: stint.url,
        STINT_KEY: key.secret,
        STINT_SESSION: session,
      },
      stdin: 'ignore',
      stdout: 'inherit',
      stderr: 'inherit',
      timeout: minutes * 60_000 + OVERTIME_MS,
    },
  )
  const exitCode = await fuzz.exited
  const faults = stint
    .log()
    .trim()
    .split('\n')
    .filter((line) => /"level":"(error|fatal)"|"level":[56]0/.test(line))
  for (const line of faults) console.log(line)
  const failed = Number(exitCode !== 0) + Number(faults.length > 0)
  console.log(`${2 - failed} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
} finally {
  await stint.close()
}
