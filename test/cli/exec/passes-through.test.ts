// A command under `stint exec` runs as it runs without: what goes in, what comes out, and how it ends.
import { describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deadUrl, readAll, useJobs } from './exec-cast.ts'

const { user } = useJobs()

const bytes = (length: number) => crypto.getRandomValues(new Uint8Array(length))
const inPieces = (length: number) => Buffer.concat(Array.from({ length: length / 65_536 }, () => bytes(65_536)))
const program = (name: string, text: string, mode = 0o755) => {
  const path = join(user.home, name)
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

describe('how it ends', () => {
  test.each([0, 255])('with exit code %d', async (code) => {
    expect(await user.exec(['sh', '-c', `exit ${code}`])).toMatchObject({ exitCode: code, signal: null })
  })

  test.each(['SIGTERM', 'SIGKILL'] as const)('by %s', async (signal) => {
    expect(await user.exec(['sh', '-c', `kill -${signal.slice(3)} $$`])).toMatchObject({ signal })
  })

  test('by a signal that would dump core, reported as a shell reports it', async () => {
    expect(await user.exec(['sh', '-c', 'ulimit -c 0; kill -ABRT $$'])).toMatchObject({ exitCode: 134 })
  })
})

describe('a command that cannot be run gives the exit code of a shell', () => {
  test.each([
    [
      'one that is not there',
      () => 'no-such-command',
      127,
      `no-such-command: command not found; looked in PATH=${process.env.PATH}`,
    ],
    ['no name at all', () => '', 127, `command not found; looked in PATH=${process.env.PATH}`],
    ['a file that is not executable', () => program('plain', 'x', 0o644), 126, 'plain: permission denied'],
    ['a directory', () => user.home, 126, 'permission denied'],
    [
      'a script whose interpreter is missing',
      () => program('lost', '#!/no/such/interpreter\n'),
      126,
      'lost: its interpreter is missing',
    ],
  ])('%s', async (_, command, exitCode, message) => {
    const ended = await user.exec([command()])
    expect(ended.exitCode).toBe(exitCode)
    expect(ended.stderr.toString()).toBe(
      `stint: ${message.startsWith('permission') ? `${user.home.split('/').at(-1)}: ` : message.startsWith('command not found') ? ': ' : ''}${message}\n`,
    )
  })

  test('distinguishes a file in PATH that is not executable from a missing one', async () => {
    const dir = join(user.home, 'bin')
    mkdirSync(dir)
    writeFileSync(join(dir, 'tool'), 'x', { mode: 0o644 })
    expect((await user.exec(['tool'], { env: { PATH: dir } })).exitCode).toBe(126)
  })

  test('runs a script without a shebang line with sh', async () => {
    const { exitCode, stdout } = await user.exec([program('bare', 'echo "$1"; exit 5\n'), 'a b'])
    expect([exitCode, stdout.toString()]).toEqual([5, 'a b\n'])
  })
})

describe('input and output', () => {
  test('every byte of standard input, output and error passes through, also to /dev/stderr', async () => {
    const data = inPieces(2 ** 21)
    const { stdout, stderr } = await user.exec(['tee', '/dev/stderr'], { stdin: data })
    expect([stdout.equals(data), stderr.equals(data)]).toEqual([true, true])
  })

  test('output arrives while the command runs', async () => {
    const child = user.start(['exec', '--', 'sh', '-c', 'echo one >&2; exec sleep 60'])
    const { value } = await child.stderr.getReader().read()
    expect(Buffer.from(value!).toString()).toBe('one\n')
    expect(child.exitCode).toBeNull()
    child.kill()
    await child.exited
  })

  test('the input is not consumed when the command does not read it', async () => {
    const { stdout } = await user.shell('"$0" "$1" exec -- true; cat', { stdin: Buffer.from('all of it') })
    expect(stdout.toString()).toBe('all of it')
  })

  test('a closed reader of standard error ends the command as it would without stint', async () => {
    const reader = '2>&1 >/dev/null | head -1; echo "$PIPESTATUS"'
    const without = await user.shell(`sh -c "exec yes >&2" ${reader}`)
    const { stdout } = await user.shell(`"$0" "$1" exec -- sh -c "exec yes >&2" ${reader}`)
    expect(stdout.toString()).toStartWith('y\n')
    expect(stdout.toString()).toBe(without.stdout.toString()) // 141, or 1 where our parent ignores SIGPIPE
  })

  test('background processes keep a working standard error, and stint does not wait for them', async () => {
    const gate = join(user.home, 'gate')
    await user.shell(`mkfifo ${gate}`)
    const child = user.start(['exec', '--', 'sh', '-c', `{ read go < ${gate}; echo late >&2; } & echo early >&2`])
    expect(await child.exited).toBe(0)
    const said = readAll(child.stderr)
    writeFileSync(gate, 'go\n')
    expect((await said).toString()).toBe('early\nlate\n')
  })

  test('no output is lost when background processes are handed over', async () => {
    const count = 'i=0; while [ $i -lt 3000 ]; do echo $i >&2; i=$((i+1)); done'
    const { stderr } = await user.exec(['sh', '-c', `{ ${count}; } & exit 0`])
    expect(stderr.toString()).toBe(Array.from({ length: 3000 }, (_, i) => `${i}\n`).join(''))
  })

  test('runs with standard error closed', async () => {
    const { exitCode, stdout } = await user.shell('"$0" "$1" exec -- sh -c "echo ran; exit 4" 2>&-')
    expect([exitCode, stdout.toString()]).toEqual([4, 'ran\n'])
  })
})

describe('the environment of the command', () => {
  test('has the variables as given, without those of an .env file', async () => {
    writeFileSync(join(user.home, '.env'), `STINT_URL=${deadUrl()}\nFROM_FILE=1\n`)
    const { stdout } = await user.exec(['env'], { env: { GIVEN: 'a\nb' }, cwd: user.home })
    expect(stdout.toString()).toContain('GIVEN=a\nb\n')
    expect(stdout.toString()).not.toContain('FROM_FILE')
  })

  test('arguments that are not UTF-8 are refused before anything runs', async () => {
    const { exitCode, stdout, stderr } = await user.shell(`"$0" "$1" exec -- printf '%s' $'caf\\xe9'`)
    expect([exitCode, stdout.toString()]).toEqual([2, ''])
    expect(stderr.toString()).toContain('put the command into a script')
  })

  test('has its arguments as they were written', async () => {
    const words = ['', ' a  b ', '--process', '*', '$HOME', 'ünï😀', '--', "it's"]
    expect((await user.exec(['printf', '[%s]', ...words])).stdout.toString()).toBe(
      words.map((word) => `[${word}]`).join(''),
    )
  })
})
