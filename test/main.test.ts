// The server's process: it takes no arguments, and ends with what started it.
import { expect, test } from 'bun:test'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { takePort } from './support/ports.ts'
import { STORES_AWAY } from './support/process.ts'
import { tempDir } from './support/temp-dir.ts'
import { until } from './support/until.ts'

const MAIN = join(import.meta.dir, '../src/main.ts')

const dir = tempDir('arguments')

/** In an empty directory, which is to stay so; a server that starts after all is ended. */
function run(args: readonly string[], settings: Record<string, string> = {}) {
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, PORT: '0', CLICKHOUSE_URL: 'http://127.0.0.1:1', ...settings }
  const ended = Bun.spawnSync([process.execPath, MAIN, ...args], { cwd: dir, env, timeout: 90_000 })
  expect(readdirSync(dir)).toEqual([])
  return { exitCode: ended.exitCode, stdout: ended.stdout.toString(), stderr: ended.stderr.toString() }
}

test('--help prints how to set up the server and where the command line is, regardless of settings', () => {
  const { exitCode, stdout, stderr } = run(['--help'], { PORT: 'no port' })
  expect([exitCode, stderr]).toEqual([0, ''])
  expect(stdout).toStartWith('Usage: bun run start\n')
  for (const word of ['environment variables', 'README.md', 'bun run stint --help']) expect(stdout).toContain(word)
})

test('any other argument is refused in one line', () => {
  const { exitCode, stdout, stderr } = run(['--port', '8080'])
  expect([exitCode, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/^[^\n]*takes no arguments[^\n]*--help[^\n]*\n$/)
})

test('SIGTERM for npx stops the server, although the shell between them does not pass it on', async () => {
  const port = String(takePort())
  const scripts = { start: `${process.execPath} ${MAIN}` }
  const home = tempDir('npx')
  writeFileSync(join(home, 'package.json'), JSON.stringify({ scripts }))
  const { PATH = '' } = process.env
  const shell = Bun.spawn(['sh', '-c', '"$0" run start; :', process.execPath], {
    cwd: home,
    env: { PATH, HOME: home, PORT: port, ...STORES_AWAY, npm_config_npm_version: '11.0.0' },
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  await until('it answers', answers)
  shell.kill('SIGTERM')
  await shell.exited
  await until('it has stopped', async () => !(await answers()))
  expect(await new Response(shell.stdout).text()).toContain('"stopped"')
})
