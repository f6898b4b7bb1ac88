// A command under `stint exec` runs as it runs without: what goes in, what comes out, and how it ends.
import { afterAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createUser, deadUrl, readAll, recordEvents } from './exec-cast.ts'

const stint = recordEvents()
const user = createUser(stint.url)
afterAll(() => {
  stint.stop()
  user.remove()
})

const bytes = (length: number) => crypto.getRandomValues(new Uint8Array(length))
const inPieces = (length: number) => Buffer.concat(Array.from({ length: length / 65_536 }, () => bytes(65_536)))
const program = (name: string, text: string, mode = 0o755) => {
  const path = join(user.home, name)
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

describe('how it ends', () => {
  test.each([0, 1, 3, 126, 127, 200, 255])('with exit code %d', async (code) => {
    expect(await user.exec(['sh', '-c', `exit ${code}`])).toMatchObject({ exitCode: code, signal: null })
  })

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL', 'SIGUSR1', 'SIGALRM', 'SIGVTALRM', 'SIGPROF', 'SIGIO'] as const)(
    'by %s',
    async (signal) => {
      expect(await user.exec(['sh', '-c', `kill -${signal.slice(3)} $$`])).toMatchObject({ signal })
    },
  )

  test('by a signal that would leave a core of ours, told as a shell tells it', async () => {
    expect(await user.exec(['sh', '-c', 'ulimit -c 0; kill -ABRT $$'])).toMatchObject({ exitCode: 134 })
  })
})

describe('a command that cannot be run ends as in a shell', () => {
  test.each([
    ['one that is not there', () => 'no-such-command', 127, 'no-such-command: command not found'],
    ['a path that is not there', () => './no/such/path', 127, 'path: command not found'],
    ['no name at all', () => '', 127, 'command not found'],
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
      `stint: ${message.startsWith('permission') ? `${user.home.split('/').at(-1)}: ` : message === 'command not found' ? ': ' : ''}${message}\n`,
    )
  })

  test('and one of the PATH that is not executable is not one that is not there', async () => {
    const dir = join(user.home, 'bin')
    mkdirSync(dir)
    writeFileSync(join(dir, 'tool'), 'x', { mode: 0o644 })
    expect((await user.exec(['tool'], { env: { PATH: dir } })).exitCode).toBe(126)
  })

  test('a script without a first line that names its interpreter is one of sh', async () => {
    const { exitCode, stdout } = await user.exec([program('bare', 'echo "$1"; exit 5\n'), 'a b'])
    expect([exitCode, stdout.toString()]).toEqual([5, 'a b\n'])
  })
})

describe('what goes in and comes out', () => {
  test('is every byte of standard input and output', async () => {
    const data = inPieces(2 ** 20)
    expect((await user.exec(['cat'], { stdin: data })).stdout.equals(data)).toBe(true)
  })

  test('is every byte of standard error, also what is not text', async () => {
    const data = inPieces(2 ** 21)
    const { stderr } = await user.exec(['sh', '-c', 'cat >&2'], { stdin: data })
    expect(stderr.equals(data)).toBe(true)
  })

  test('is standard error in a pipe that can be opened by its name', async () => {
    expect((await user.exec(['sh', '-c', 'echo by name > /dev/stderr'])).stderr.toString()).toBe('by name\n')
  })

  test('comes while the command runs, not when it ends', async () => {
    const child = user.start(['exec', '--', 'sh', '-c', 'echo one >&2; exec sleep 60'])
    const { value } = await child.stderr.getReader().read()
    expect(Buffer.from(value!).toString()).toBe('one\n')
    expect(child.exitCode).toBeNull()
    child.kill()
    await child.exited
  })

  test('is not touched where the command does not', async () => {
    const { stdout } = await user.shell('"$0" "$1" exec -- true; cat', { stdin: Buffer.from('all of it') })
    expect(stdout.toString()).toBe('all of it')
  })

  test('a reader of standard error who leaves ends the command, as without us', async () => {
    const reader = '2>&1 >/dev/null | head -1; echo "$PIPESTATUS"'
    const without = await user.shell(`sh -c "exec yes >&2" ${reader}`)
    const { stdout } = await user.shell(`"$0" "$1" exec -- sh -c "exec yes >&2" ${reader}`)
    expect(stdout.toString()).toStartWith('y\n')
    expect(stdout.toString()).toBe(without.stdout.toString()) // 141, or 1 where whoever started us ignores SIGPIPE
  })

  test('what it left running keeps a standard error that works, and nobody waits for it', async () => {
    const gate = join(user.home, 'gate')
    await user.shell(`mkfifo ${gate}`)
    const child = user.start(['exec', '--', 'sh', '-c', `{ read go < ${gate}; echo late >&2; } & echo early >&2`])
    expect(await child.exited).toBe(0)
    const said = readAll(child.stderr)
    writeFileSync(gate, 'go\n')
    expect((await said).toString()).toBe('early\nlate\n')
  })

  test('nothing is lost between us and whoever serves what is left running', async () => {
    const count = 'i=0; while [ $i -lt 3000 ]; do echo $i >&2; i=$((i+1)); done'
    const { stderr } = await user.exec(['sh', '-c', `{ ${count}; } & exit 0`])
    expect(stderr.toString()).toBe(Array.from({ length: 3000 }, (_, i) => `${i}\n`).join(''))
  })

  test('closed standard error is no reason not to run', async () => {
    const { exitCode, stdout } = await user.shell('"$0" "$1" exec -- sh -c "echo ran; exit 4" 2>&-')
    expect([exitCode, stdout.toString()]).toEqual([4, 'ran\n'])
  })
})

describe('its surroundings', () => {
  test('are the environment as it was given, without what an .env file says', async () => {
    writeFileSync(join(user.home, '.env'), `STINT_URL=${deadUrl()}\nFROM_FILE=1\n`)
    const { stdout } = await user.exec(['env'], { env: { GIVEN: 'a\nb' }, cwd: user.home })
    expect(stdout.toString()).toContain('GIVEN=a\nb\n')
    expect(stdout.toString()).not.toContain('FROM_FILE')
  })

  test('are other open files too', async () => {
    const named = '"$0" "$1" exec -- diff <(echo same) <(echo same)'
    const numbered = '"$0" "$1" exec -- sh -c "cat <&7" 7< <(echo seven)'
    const { exitCode, stdout } = await user.shell(`${named} && ${numbered}`)
    expect([exitCode, stdout.toString()]).toEqual([0, 'seven\n'])
  })

  test('are its arguments byte for byte, also those that are not UTF-8', async () => {
    const { stdout } = await user.shell(`"$0" "$1" exec -- printf '%s|' $'caf\\xe9\\n' "it's" '' $'\\xff\\\\' '\ufffd'`)
    expect(stdout.toString('latin1')).toBe(`caf\xe9\n|it's||\xff\\|${Buffer.from('\ufffd').toString('latin1')}|`)
  })

  test('are a command that ignores what was ignored, with such arguments too', async () => {
    const { stdout, exitCode } = await user.shell(
      `trap '' HUP; "$0" "$1" exec -- sh -c 'kill -HUP $$; printf %s "$1"; exit 3' sh $'\\xe9'`,
    )
    expect([stdout.toString('latin1'), exitCode]).toEqual(['\xe9', 3])
  })

  test('are its arguments as they were written', async () => {
    const words = ['', ' a  b ', '--process', '*', '$HOME', 'ünï😀', '--', "it's"]
    expect((await user.exec(['printf', '[%s]', ...words])).stdout.toString()).toBe(
      words.map((word) => `[${word}]`).join(''),
    )
  })
})
