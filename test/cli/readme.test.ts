// src/cli/README.md: its tables are compared with the code, and its commands run against a real server.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { missing } from '../support/needs.ts'
import { type Caller, createStintProcess, type StintProcess } from '../support/process.ts'
import { readRepo, sectionUnder } from '../support/readme.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'
import { createPerson } from './cli-cast.ts'
import { MAIN } from './exec/exec-cast.ts'

const README = 'src/cli/README.md'
const blocks = [...readRepo(README).matchAll(/```sh\n(.*?)```/gs)].map(([, script]) => script!)
const blockWith = (text: string) => blocks.find((block) => block.includes(text))!
/** The build is run by test/integration/cli-exec.test.ts. */
const COMMANDS = blocks.filter((block) => block.includes('stint ') && !/build:cli|stint_|stint\.json/.test(block))
const FUNCTION = blockWith('stint_run() {')

test('the table of commands names every command of the help', async () => {
  const { stdout } = await createPerson('http://127.0.0.1:1').run('--help')
  const commands = [...stdout.slice(stdout.indexOf('Commands:')).matchAll(/^ {2}([a-z-]+) /gm)]
    .map(([, name]) => name!)
    .filter((name) => name !== 'help')
  const rows = sectionUnder(README, 'Commands')
  expect(commands.length).toBeGreaterThan(15)
  expect(commands.filter((name) => !new RegExp(`\`(?:stint )?${name}\\b`).test(rows))).toEqual([])
})

test('the table of settings names every variable that is read', () => {
  const section = sectionUnder(README, 'Settings')
  const read = readRepo('src/cli/config.ts').matchAll(/(?:given|base)\('([A-Z_]+)'/g)
  const names = [...new Set([...read].map(([, name]) => name!)), 'NO_COLOR']
  expect(names).toContain('STINT_API_KEY_FILE')
  expect(names.filter((name) => !section.includes(`\`${name}\``))).toEqual([])
})

describe.skipIf(missing('chdb') !== undefined)('the commands', () => {
  let stint: StintProcess
  let caller: Caller
  let env: Record<string, string>

  beforeAll(async () => {
    stint = createStintProcess()
    await stint.start()
    caller = await stint.signUp('ada@example.com')
    const home = tempDir('readme')
    mkdirSync(join(home, 'bin'))
    writeFileSync(join(home, 'bin/stint'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`)
    chmodSync(join(home, 'bin/stint'), 0o755)
    env = { PATH: `${join(home, 'bin')}:${process.env.PATH}`, HOME: home, URL: stint.url, KEY: caller.secret }
  })
  afterAll(() => stint?.close())

  async function run(shell: string[], script: string, more: Record<string, string> = {}) {
    const child = Bun.spawn([...shell, '-c', script], { env: { ...env, ...more }, stdout: 'pipe', stderr: 'pipe' })
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    return { exitCode: await child.exited, stdout, stderr }
  }
  const runsOf = async (process: string) => {
    const answer = await caller.get(`/api/timings?process=${encodeURIComponent(process)}`)
    return answer.ok
      ? ((await answer.json()) as { timings: { state: string; uid: string; exceptions: number }[] }).timings
      : []
  }

  test('the settings file is sufficient for all others', async () => {
    const first = await run(['sh'], blockWith('stint.json'))
    expect(first).toMatchObject({ exitCode: 0, stderr: '' })
    expect(first.stdout).toMatch(/^EVENTS +STORE +STATE +WAITING\npoints +/)
  })

  test('each does what it says and prints nothing', async () => {
    expect(COMMANDS.length).toBe(4)
    for (const script of COMMANDS) {
      const { exitCode, stderr } = await run(['sh'], `set -e\n${script}`)
      expect([script, exitCode, stderr.replace(/^(ValueError: row 3 is bad|No .*)\n/gm, '')]).toEqual([script, 0, ''])
    }
    const settled = async () => (await runsOf('nightly import')).map(({ state }) => state).toSorted()
    await until('three runs have settled', async () => (await settled()).join() === 'completed,failed,failed')
    const { stdout } = await run(['sh'], 'stint timings --state failed; stint exceptions')
    expect(stdout.match(/ failed +1 +nightly import/g)).toHaveLength(2)
    expect(stdout).toContain('Error: connection reset')
  })

  describe.each([
    ['dash', ['dash']],
    ['busybox sh', ['busybox', 'sh']],
    ['bash', ['bash', '--posix']],
  ])('the function in %s', (name, shell) => {
    const process = `shell "${name}" \\`
    const call = (command: string) => `${FUNCTION}\nstint_run "$PROCESS" ${command}`
    const settings = () => ({ STINT_URL: stint.url, STINT_API_KEY: caller.secret, PROCESS: process })
    const found = () => runsOf(`shell ${name} `)

    test.skipIf(Bun.which(shell[0]!) === null)('times a command, and reports a failed one', async () => {
      const good = await run(shell, call('sh -c "echo out; exit 0"'), settings())
      expect(good).toEqual({ exitCode: 0, stdout: 'out\n', stderr: '' })
      const bad = await run(shell, `set -e\n${call('sh -c "exit 3"')}`, settings())
      expect(bad).toEqual({ exitCode: 3, stdout: '', stderr: '' })
      await until('both runs have settled', async () => (await found()).length === 2)
      await until(
        'one has failed',
        async () =>
          (await found())
            .map(({ state }) => state)
            .toSorted()
            .join() === 'completed,failed',
      )
    })

    test.skipIf(Bun.which(shell[0]!) === null)('times runs within runs, in the shell that calls it', async () => {
      const nested = `${FUNCTION}
inner() { value=kept; return 3; }
outer() { stint_run "inner ${name}" inner || code=$?; }
stint_run "outer ${name}" outer
echo "$? $code $value"`
      expect(await run(shell, nested, settings())).toEqual({ exitCode: 0, stdout: '0 3 kept\n', stderr: '' })
      await until('the inner one has failed', async () => (await runsOf(`inner ${name}`))[0]?.state === 'failed')
      await until('the outer one has not', async () => (await runsOf(`outer ${name}`))[0]?.state === 'completed')
    })

    test.skipIf(Bun.which(shell[0]!) === null)('under set -e a function stops at its first failure', async () => {
      const strict = `set -e\n${FUNCTION}\njob() { false; echo on; }\nstint_run "$PROCESS" job\necho after`
      const odd = { ...settings(), PROCESS: `strict\r\u0001 ${name}` }
      expect(await run(shell, strict, odd)).toEqual({ exitCode: 1, stdout: '', stderr: '' })
      await until('it has failed', async () => (await runsOf(`strict ${name}`))[0]?.state === 'failed')
    })

    test.skipIf(Bun.which(shell[0]!) === null)('tells parallel runs apart', async () => {
      const parallel = `${FUNCTION}\nfor i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do stint_run "$PROCESS" true & done; wait`
      await run(shell, parallel, { ...settings(), PROCESS: `parallel ${name}` })
      const settled = async () => (await runsOf(`parallel ${name}`)).filter(({ state }) => state === 'completed')
      await until('20 runs have settled', async () => (await settled()).length >= 20)
      expect(new Set((await settled()).map(({ uid }) => uid)).size).toBe(20)
    })

    test.skipIf(Bun.which(shell[0]!) === null)('runs it even if Stint is unreachable', async () => {
      const away = await run(shell, call('sh -c "echo out; exit 4"'), {
        ...settings(),
        STINT_URL: 'http://127.0.0.1:1',
      })
      expect(away).toMatchObject({ exitCode: 4, stdout: 'out\n' })
    })
  })
})
