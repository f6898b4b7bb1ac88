// Signals under `stint exec`: the command gets each signal that is sent to stint, and Ctrl-C only once.
import { afterEach, describe, expect, test } from 'bun:test'
import { until } from '../../support/until.ts'
import { MAIN, useJobs } from './exec-cast.ts'

const { user } = useJobs()

const SIGNALS = [
  'SIGINT',
  'SIGTERM',
  'SIGHUP',
  'SIGQUIT',
  'SIGUSR1',
  'SIGUSR2',
  'SIGALRM',
  'SIGVTALRM',
  'SIGPROF',
  'SIGIO',
  'SIGXCPU',
] as const
/** The terminal sends these to its whole foreground group. */
const TYPED = ['SIGINT', 'SIGQUIT']
const OTHERS = SIGNALS.filter((signal) => !TYPED.includes(signal))
const SHORT = SIGNALS.map((signal) => signal.slice(3))

/** Says `ready`, then each signal it gets; ends with code 7 at the line `end`. */
const LISTENER = [
  process.execPath,
  '-e',
  `for (const name of ${JSON.stringify(SHORT)}) process.on('SIG' + name, () => console.log(name))
   process.stdin.on('data', (data) => String(data).includes('end') && process.exit(7))
   console.log('ready')`,
]

const children: { kill(signal: 'SIGKILL'): void }[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** Runs a command on a terminal of its own, of which it is the foreground group. */
function onTerminal(command: readonly string[], program: readonly string[] = [process.execPath, MAIN, 'exec', '--']) {
  let screen = ''
  const child = Bun.spawn([...program, ...command], {
    env: user.env,
    terminal: {
      cols: 80,
      rows: 24,
      data: (_, data) => {
        screen += Buffer.from(data).toString()
      },
    },
  })
  children.push(child)
  return {
    child,
    type: (keys: string) => child.terminal!.write(keys),
    screen: () => screen,
    shows: (text: string) => until(`${text} on the screen, where there is:\n${screen}`, () => screen.includes(text)),
    heard: () =>
      screen
        .replaceAll('\r', '')
        .split('\n')
        .filter((line) => SHORT.some((name) => line.endsWith(name)))
        .map((line) => line.replace(/^\^./, '')),
  }
}

describe('passes a signal to stint alone on to the command', () => {
  test('each of them, each time', async () => {
    const { child, shows, type, heard } = onTerminal(LISTENER)
    await shows('ready')
    const sent = [...OTHERS, 'SIGHUP'] as const
    for (const [i, signal] of sent.entries()) {
      child.kill(signal)
      await until(`${signal} heard`, () => heard().length > i)
    }
    type('end\n')
    expect(await child.exited).toBe(7)
    expect(heard()).toEqual(sent.map((signal) => signal.slice(3)))
  })

  test('those that a terminal sends, without a terminal', async () => {
    const child = user.start(['exec', '--', ...LISTENER], { stdin: 'pipe' })
    children.push(child)
    const reader = child.stdout.getReader()
    let said = ''
    const hears = async (text: string) => {
      while (!said.includes(text)) said += Buffer.from((await reader.read()).value!).toString()
    }
    await hears('ready\n')
    for (const signal of [...TYPED, 'SIGTERM'] as const) {
      process.kill(child.pid, signal)
      await hears(`${signal.slice(3)}\n`)
    }
    const stdin = child.stdin as Bun.FileSink
    stdin.write('end\n')
    stdin.flush()
    expect(await child.exited).toBe(7)
    expect(said).toBe('ready\nINT\nQUIT\nTERM\n')
  })

  test.each([
    ['SIGTERM sent to stint alone', 'TERM', (pid: number) => process.kill(pid, 'SIGTERM')],
    ['SIGTERM sent to the group of stint', 'TERM', (pid: number) => process.kill(-pid, 'SIGTERM')],
  ])('to a command that has a group of its own: %s', async (_, signal, send) => {
    const command = `trap 'echo got; exit 9' ${signal}; echo ready; while :; do sleep 0.01; done`
    const { child, shows } = onTerminal(['setsid', '--wait', 'bash', '-c', command])
    await shows('ready')
    send(child.pid)
    await shows('got')
    expect(await child.exited).toBe(9)
  })
})

test('a signal that the terminal sends to the whole group reaches the command once', async () => {
  const { child, shows, type, heard } = onTerminal(LISTENER)
  await shows('ready')
  const toGroup = (signal: NodeJS.Signals) => () => process.kill(-child.pid, signal)
  const [ctrlC, ctrlBackslash] = [() => type('\u0003'), () => type('\u001c')]
  const sends = [ctrlC, ctrlC, ctrlBackslash, ctrlBackslash, toGroup('SIGINT'), toGroup('SIGQUIT')]
  for (const [i, send] of sends.entries()) {
    send()
    await until(`${i + 1} signals heard, of ${heard()}`, () => heard().length === i + 1)
  }
  // A signal passed on would have come before this one.
  child.kill('SIGUSR2')
  await shows('USR2')
  type('end\n')
  expect(await child.exited).toBe(7)
  expect(heard()).toEqual(['INT', 'INT', 'QUIT', 'QUIT', 'INT', 'QUIT', 'USR2'])
})

test('other signals to the whole group reach the command', async () => {
  const { child, shows, type } = onTerminal(LISTENER)
  await shows('ready')
  for (const signal of ['SIGTERM', 'SIGUSR1', 'SIGXCPU'] as const) {
    process.kill(-child.pid, signal)
    await shows(signal.slice(3))
  }
  type('end\n')
  expect(await child.exited).toBe(7)
})

test('Ctrl-C ends stint with the same signal as the command, so a shell stops its script', async () => {
  const { child, shows, type } = onTerminal(['sh', '-c', 'echo ready; exec sleep 60'])
  await shows('ready')
  type('\u0003')
  await child.exited
  expect(child.signalCode).toBe('SIGINT')
})

test('signals ignored at the start of stint are ignored by the command', async () => {
  const { stdout, exitCode } = await user.shell(
    `trap '' HUP; "$0" "$1" exec -- sh -c 'kill -HUP $$; kill -HUP $PPID; echo "alive with $1"; exit 3' sh argument`,
  )
  expect([stdout.toString(), exitCode]).toEqual(['alive with argument\n', 3])
})

test('a missing command is reported as missing then as well', async () => {
  expect((await user.shell(`trap '' HUP; "$0" "$1" exec -- no-such-command`)).exitCode).toBe(127)
})

test('Ctrl-Z and fg', async () => {
  const { child, shows, screen, type } = onTerminal(['-i'], ['bash', '--norc'])
  type(
    `PS1='$((6*7))> '; '${process.execPath}' '${MAIN}' exec -- bash -c 'echo up $((6*7)); read word; echo got $word'\n`,
  )
  await shows('up 42')
  type('\u001a')
  await shows('42> ') // the shell reads only now
  type('fg\n')
  await until('fg names the job', () => screen().slice(screen().indexOf('42> ')).includes('exec --'))
  type('again\n')
  await shows('got again')
  type('exit 0\n')
  expect(await child.exited).toBe(0)
})
