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
/** The build is run by test/integration/cli-exec-compiled.slow.ts. */
const COMMANDS = blocks.filter((block) => block.includes('stint ') && !/build:cli|stint\.json/.test(block))

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
})
