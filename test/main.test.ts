// The server's process: it takes no arguments, and it never runs with too few threads.
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createStintProcess } from './support/process.ts'
import { tempDir } from './support/temp-dir.ts'

const MAIN = join(import.meta.dir, '../src/main.ts')

const dir = tempDir('arguments')

/** In an empty directory, which is to stay so; a server that starts after all is ended. */
function run(args: readonly string[], settings: Record<string, string> = {}) {
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, PORT: '0', CLICKHOUSE_URL: 'http://127.0.0.1:1', ...settings }
  const ended = Bun.spawnSync([process.execPath, MAIN, ...args], { cwd: dir, env, timeout: 20_000 })
  expect(readdirSync(dir)).toEqual([])
  return { exitCode: ended.exitCode, stdout: ended.stdout.toString(), stderr: ended.stderr.toString() }
}

test.each(['--help', '-h'])(
  '%s prints how to set up the server and where the command line is, regardless of settings',
  (help) => {
    const { exitCode, stdout, stderr } = run([help], { PORT: 'no port' })
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toStartWith('Usage: bun run start\n')
    for (const word of ['environment variables', 'README.md', 'bun run stint --help']) expect(stdout).toContain(word)
  },
)

test.each(['--version', 'foo', '--port 8080', ''])('any other argument is refused in one line: %j', (args) => {
  const { exitCode, stdout, stderr } = run(args.split(' '))
  expect([exitCode, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/^[^\n]*takes no arguments[^\n]*--help[^\n]*\n$/)
})

describe('threads', () => {
  test.each([
    ['unset', {}, '8'],
    ['too small', { UV_THREADPOOL_SIZE: '4' }, '8'],
    ['large enough', { UV_THREADPOOL_SIZE: '12' }, '12'],
  ])('with UV_THREADPOOL_SIZE %s the server has enough threads in the same process', async (_, env, size) => {
    await using stint = createStintProcess({ CLICKHOUSE_URL: 'http://127.0.0.1:1', ...env })
    await stint.start()
    const environment = readFileSync(`/proc/${stint.pid()}/environ`, 'utf8').split('\0')
    expect(environment.filter((pair) => pair.startsWith('UV_THREADPOOL_SIZE='))).toEqual([`UV_THREADPOOL_SIZE=${size}`])
    expect(await stint.terminate()).toBe(0)
  })
})
