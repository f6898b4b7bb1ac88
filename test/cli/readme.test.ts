// src/cli/README.md: its tables are compared with the code, and its commands run against a real server.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Event } from '../../src/event/event.ts'
import { toRecord } from '../../src/event/record.ts'
import { startApp, type TestApp } from '../support/app.ts'
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

describe('the commands', () => {
  const stored: Event[] = []
  let app: TestApp
  let env: Record<string, string>

  beforeAll(async () => {
    app = await startApp({ stored })
    const home = tempDir('readme')
    mkdirSync(join(home, 'bin'))
    writeFileSync(join(home, 'bin/stint'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`)
    chmodSync(join(home, 'bin/stint'), 0o755)
    env = { PATH: `${join(home, 'bin')}:${process.env.PATH}`, HOME: home, URL: app.url, KEY: app.keys.owner }
  })
  afterAll(() => app.stop())

  async function run(shell: string[], script: string, more: Record<string, string> = {}) {
    const child = Bun.spawn([...shell, '-c', script], { env: { ...env, ...more }, stdout: 'pipe', stderr: 'pipe' })
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    return { exitCode: await child.exited, stdout, stderr }
  }
  test('the settings file is sufficient for all others', async () => {
    const first = await run(['sh'], blockWith('stint.json'))
    // the stores of this service take nothing
    expect(first).toMatchObject({ exitCode: 1, stderr: 'stint: delivery paused: points, exceptions\n' })
    expect(first.stdout).toMatch(/^EVENTS +STORE +STATE +WAITING\npoints +/)
  })

  test('each does what it says and prints nothing', async () => {
    expect(COMMANDS.length).toBe(4)
    for (const script of COMMANDS) {
      const { exitCode, stderr } = await run(['sh'], `set -e\n${script}`)
      expect([script, exitCode, stderr.replace(/^(ValueError: row 3 is bad|No .*)\n/gm, '')]).toEqual([script, 0, ''])
    }
    // what was sent again is stored once
    const sent = async () => [...new Map((await app.events()).map((event) => [toRecord(event), event])).values()]
    await until('three runs have ended', async () => (await sent()).filter(({ kind }) => kind === 'end').length === 3)
    stored.push(...(await sent()))
    app.clock.step(60_000_000)
    const { stdout } = await run(['sh'], 'stint timings --state failed; stint exceptions')
    expect(stdout.match(/ failed +1 +nightly import/g)).toHaveLength(2)
    expect(stdout).toContain('Error: connection reset')
  })
})
