// The command line as a process: on a real terminal, and in a pipe.
import { afterAll, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ADA } from '../account/accounts-cast.ts'
import { serveAccounts } from '../http/accounts/serve-accounts.ts'
import { tempDir } from '../support/temp-dir.ts'

const server = serveAccounts()
afterAll(server.stop)

const MAIN = join(import.meta.dir, '../../src/cli/main.ts')
const env = () => ({ HOME: tempDir('cli'), STINT_URL: server.url, PATH: '/usr/bin:/bin' })

/** Types each answer when its question has come; a question that never comes ends by the time-out of the test. */
async function onTerminal(args: string[], dialog: [question: string, answer: string][]) {
  let screen = ''
  const left = [...dialog]
  const child = Bun.spawn([process.execPath, MAIN, ...args], {
    env: env(),
    terminal: {
      cols: 80,
      rows: 24,
      data(terminal, data) {
        screen += Buffer.from(data).toString()
        const next = left[0]
        if (next !== undefined && screen.includes(next[0])) {
          left.shift()
          terminal.write(next[1])
        }
      },
    },
  })
  const exitCode = await child.exited
  child.terminal!.close()
  return { exitCode, screen }
}

test('does not echo a typed password and allows corrections', async () => {
  const { exitCode, screen } = await onTerminal(
    ['account', 'create', '--email', ADA.email],
    [
      ['New password: ', 'wrong\u0015correct hörsé\u007f\u007fse battery\r'],
      ['New password again: ', 'correct hörse battery\r'],
    ],
  )
  expect(exitCode).toBe(0)
  expect(screen).toMatch(/stint_[0-9A-Za-z]{42}/)
  expect(screen).not.toContain('battery')
  await server.accounts.people.signIn({ ...ADA, password: 'correct hörse battery' })
})

test('Ctrl-C at a prompt ends the command', async () => {
  const { exitCode, screen } = await onTerminal(['login', '--email', ADA.email], [['Password: ', 'abc\u0003']])
  expect(exitCode).toBe(1)
  expect(screen).toContain('interrupted')
})

test('a closed output pipe is not an error', async () => {
  const child = Bun.spawn(['sh', '-c', '"$0" "$1" --help | head -1', process.execPath, MAIN], {
    env: env(),
    stderr: 'pipe',
  })
  expect(await new Response(child.stdout).text()).toStartWith('Usage: stint')
  expect(await new Response(child.stderr).text()).toBe('')
})

const FULL = '/dev/full'
test.skipIf(!existsSync(FULL)).each(['--help', 'account create --email full@example.com --password-stdin'])(
  'reports an output that cannot be written in one line: %s',
  async (line) => {
    const child = Bun.spawn(['sh', '-c', `exec "$@" > ${FULL}`, 'sh', process.execPath, MAIN, ...line.split(' ')], {
      env: env(),
      stdin: new Blob(['a password for the full device\n']),
      stderr: 'pipe',
    })
    const said = await new Response(child.stderr).text()
    expect(said).toEndWith('stint: cannot write standard output: no space left on device\n')
    expect(said).not.toContain('process-io.ts')
    expect(await child.exited).toBe(1)
  },
)

test('every file of commands is loaded by the program', () => {
  const dir = join(import.meta.dir, '../../src/cli')
  const read = (file: string) => readFileSync(join(dir, file), 'utf8')
  const files = readdirSync(dir).filter(
    (file) => /\.ts$/.test(file) && read(file).includes('export function register('),
  )
  expect(files.length).toBeGreaterThan(10)
  expect(files.filter((file) => !read('run-cli.ts').includes(`import('./${file}')`))).toEqual([])
})
