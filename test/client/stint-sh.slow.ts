// The shell client in every shell and with every program that sends: a command runs as it does without it, a real Stint
// shows its run, and nothing is lost that Stint did not take.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { LIMITS } from '../../src/event/fields.ts'
import { deadUrl, KEY } from '../cli/exec/exec-cast.ts'
import { missing } from '../support/needs.ts'
import { type RealStint, startRealStint } from '../support/real-stint.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'
import { createShellUser, KINDS, type ShellUser } from './sh-cast.ts'

const DAY_MS = 86_400_000
/** A process that Stint refuses. */
const TOO_LONG = 'p'.repeat(LIMITS.process + 1)
const created: ShellUser[] = []
afterAll(() => {
  for (const user of created) user.remove()
})

describe.skipIf(missing('shells') !== undefined).each(Object.entries(KINDS))('in %s', (name, kind) => {
  let stint: RealStint
  beforeAll(async () => {
    stint = await startRealStint()
  })
  afterAll(() => stint.stop())
  const userAt = (url: string, key?: string) => {
    const user = createShellUser(url, kind, key)
    created.push(user)
    return user
  }
  const createOne = () => userAt(stint.url, stint.key)
  const dirOf = (user: ShellUser, url: string, key: string) =>
    join(user.stateDir, createHash('sha256').update(`${url}\n${key}`).digest('hex').slice(0, 16))

  test('a command that succeeds is a completed run; output and exit code pass', async () => {
    const user = createOne()
    const ended = await user.run(
      ['exec', '--process', 'nightly "é"', '--meta=eu', '--', 'sh', '-c', 'cat; echo e >&2'],
      {},
      Buffer.from('in\n'),
    )
    expect(ended).toEqual({ exitCode: 0, signal: null, stdout: 'in\n', stderr: 'e\n' })
    const runs = await stint.runs('nightly "é"')
    expect(runs).toMatchObject([{ meta: 'eu', state: 'completed', exceptions: [] }])
    expect(runs[0]!.uid).toMatch(/^[0-9a-f]{32}$/)
    expect(runs[0]!.endedAt! > runs[0]!.startedAt!).toBe(true)
    expect([user.pendingFiles(), user.refused(), user.leftovers()]).toEqual([[], [], []])
  })

  test('one that fails is a failed run with how it ended and the last 12,000 characters of its standard error', async () => {
    const user = createOne()
    const script =
      'i=0; while [ $i -lt 3000 ]; do echo "é $i \\"" >&2; i=$((i+1)); done; printf "\\377!\\n" >&2; exit 4'
    const words = ['exec', '--process', 'loud', '--ok', '3', '--', 'sh', '-c', script, '--password=hunter2']
    const { exitCode, stderr } = await user.run(words)
    expect([exitCode, stderr.split('\n').length]).toEqual([4, 3002])
    const runs = await stint.runs('loud')
    expect(runs.map(({ state }) => state)).toEqual(['failed'])
    const [exception] = runs[0]!.exceptions
    expect([...exception!].length).toBe(12_000 + 'sh: exited with code 4\n'.length)
    expect(exception).toStartWith('sh: exited with code 4\n')
    expect(exception).toEndWith('é 2999 "\n�!')
    expect(JSON.stringify(await stint.events())).not.toContain('hunter2')
  })

  const SAID = 'echo "no rate for EUR"; echo "WARN slow" >&2; exit 1'
  const QUIET = 'sh: exited with code 1\nWARN slow'
  const TOLD = 'sh: exited with code 1\nno rate for EUR\nWARN slow'
  test.each([
    ['a pipe of its own', '2>/dev/null | cat', '', QUIET, []],
    ['a pipe of its own, and STINT_OUTPUT is 1', '2>/dev/null | cat', '1', TOLD, ['no rate for EUR']],
    ['the pipe of standard error', '2>&1 | cat', '', TOLD, []],
    ['the pipe of standard error, and STINT_OUTPUT is 0', '2>&1 | cat', '0', QUIET, []],
    ['a file', '>/dev/shm/stint-sh-out', '1', QUIET, []],
  ] as const)('of a failed run whose standard output is %s', async (_, redirected, output, text, outputs) => {
    const user = createOne()
    const script = `${user.words.map((word) => `'${word}'`).join(' ')} exec -- sh -c "$SAID" ${redirected}`
    const env = { ...user.shellEnv, SAID, STINT_OUTPUT: output }
    await Bun.spawn([Bun.which('sh')!, '-c', script], { env, stdout: 'pipe', stderr: 'pipe' }).exited
    rmSync('/dev/shm/stint-sh-out', { force: true })
    const runs = (await stint.runs('sh')).filter(({ exceptions: [first] }) => first === text)
    expect(runs.map((run) => run.outputs)).toContainEqual([...outputs])
  })

  test('--output brings the end of what a command that succeeds wrote, of data nothing', async () => {
    const user = createOne()
    await user.run([
      'exec',
      '--process',
      'wrote',
      '--output',
      '--',
      'sh',
      '-c',
      'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo $i; done',
    ])
    await user.run(['exec', '--process', 'data', '--output', '--', 'sh', '-c', 'printf "a\\0b"'])
    await user.run(['exec', '--process', 'silent', '--', 'sh', '-c', 'echo fine'])
    const outputsOf = async (process: string) => (await stint.runs(process)).flatMap(({ outputs }) => outputs)
    expect((await outputsOf('wrote'))[0]).toEndWith('\n2999\n3000')
    expect([await outputsOf('data'), await outputsOf('silent')]).toEqual([[], []])
  })

  test('an exit code that --ok names is a success, and a large one passes', async () => {
    const words = ['exec', '--process', 'ok', '--ok', '3,200', '--', 'sh', '-c', 'exit 200']
    expect((await createOne().run(words)).exitCode).toBe(200)
    expect(await stint.runs('ok')).toMatchObject([{ state: 'completed', exceptions: [] }])
  })

  test('a command that is not there ends with 127, and the line says where it was looked for', async () => {
    const user = createOne()
    const { exitCode, stderr } = await user.run(['exec', '--', 'no-such-command'])
    expect([exitCode, stderr]).toEqual([
      127,
      expect.stringMatching(/^stint: no-such-command: command not found; looked in PATH=\/.*\n$/),
    ])
    const said = expect.stringMatching(/^no-such-command: command not found\nlooked in PATH=\//)
    expect(await stint.runs('no-such-command')).toMatchObject([{ state: 'failed', exceptions: [said] }])
    const plain = join(user.home, 'plain')
    writeFileSync(plain, 'x', { mode: 0o644 })
    expect((await user.run(['exec', '--', plain])).exitCode).toBe(126)
  })

  test.each(['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGINT'] as const)(
    '%s reaches the command, which may end as it likes',
    async (signal) => {
      const user = createOne()
      const ready = join(user.home, 'ready')
      const caught = signal === 'SIGINT' && name.includes('busybox') ? 'TERM' : signal.slice(3)
      const child = user.start([
        'exec',
        '--',
        'sh',
        '-c',
        `trap "echo caught; exit 9" ${caught}; echo > ${ready}; while :; do sleep 0.05; done`,
      ])
      await until('the command', () => existsSync(ready))
      child.kill(signal)
      expect(await user.finish(child)).toMatchObject({ exitCode: 9, stdout: 'caught\n' })
    },
  )

  test('a command that a signal ends has failed by it, and so has the script', async () => {
    const user = createOne()
    const child = user.start(['exec', '--process', 'sleeper', '--', 'sleep', '60'])
    await until('the start', async () => (await stint.runs('sleeper')).length === 1)
    child.kill('SIGTERM')
    expect(await user.finish(child)).toMatchObject({ signal: 'SIGTERM', stderr: '' })
    const exceptions = ['sleep: was ended by SIGTERM']
    expect(await stint.runs('sleeper')).toMatchObject([{ state: 'failed', exceptions }])
    expect(await user.run(['exec', '--', 'sh', '-c', 'kill -KILL $$'])).toMatchObject({ exitCode: 137, stderr: '' })
  })

  test('a signal that comes once Stint has heard of the run reaches the command', async () => {
    const user = createOne()
    const bin = tempDir('bin')
    chmodSync(bin, 0o755)
    const ask = join(bin, 'env') // the last program that runs before the command
    writeFileSync(ask, `#!/bin/sh\nsleep 0.5\nPATH=\${PATH#*:}\nexec env "$@"\n`, { mode: 0o755 })
    const PATH = `${bin}:${user.path}`
    const child = user.start(['exec', '--process', 'early', '--', 'sleep', '60'], { PATH })
    await until('the start', async () => (await stint.runs('early')).length === 1)
    child.kill('SIGTERM')
    expect(await user.finish(child)).toMatchObject({ signal: 'SIGTERM', stderr: '' })
    expect(await stint.runs('early')).toMatchObject([{ state: 'failed', exceptions: ['sleep: was ended by SIGTERM'] }])
  })

  test('a process that the command leaves running delays nothing, and its standard error works', async () => {
    const user = createOne()
    const go = join(user.home, 'go')
    const script = `(while [ ! -e ${go} ]; do sleep 0.05; done; echo late >&2) & echo early >&2; exit 5`
    const child = user.start(['exec', '--', 'sh', '-c', script])
    await child.exited
    expect(child.exitCode).toBe(5)
    writeFileSync(go, '')
    expect(await new Response(child.stderr).text()).toBe('early\nlate\n')
  })

  test('while Stint is away the events are in one private file without the key, and the next call sends them', async () => {
    const url = deadUrl()
    const user = userAt(url)
    const { exitCode, stderr } = await user.run(['exec', '--process', 'away', '--', 'sh', '-c', 'echo err >&2; exit 3'])
    expect([exitCode, stderr]).toEqual([
      3,
      expect.stringMatching(/^err\nstint: cannot reach Stint at http.*; 3 events kept, sent later\n$/),
    ])
    expect(user.pending().map(({ kind }) => kind)).toEqual(['start', 'end', 'exception'])
    const [file] = user.pendingFiles()
    expect(join(user.stateDir, dirname(file!))).toBe(dirOf(user, url, KEY))
    expect(statSync(join(user.stateDir, file!)).mode & 0o777).toBe(0o600)
    expect(statSync(join(user.stateDir, dirname(file!))).mode & 0o777).toBe(0o700)
    const kept = await user.run(['metric', 'away', 'rows=12', 'bytes read=+.5e6'])
    expect([kept.exitCode, kept.stderr]).toEqual([0, expect.stringContaining('1 event kept, sent later')])

    const there = { STINT_URL: stint.url, STINT_API_KEY: stint.key }
    const elsewhere = await user.run(['flush'], there)
    expect(elsewhere.stdout).toBe('0 sent, 0 refused, 0 left, 4 for another address or key (--all sends them here)\n')
    expect((await user.run(['flush', '--all'], there)).stdout).toBe('4 sent, 0 refused, 0 left\n')
    const exceptions = ['sh: exited with code 3\nerr']
    expect(await stint.runs('away')).toMatchObject([{ state: 'failed', exceptions }])
    expect(await stint.metrics('away')).toEqual({ rows: 12, 'bytes read': 500_000 })
    expect([user.pendingFiles(), user.refused()]).toEqual([[], []])
  })

  test('single events are sent; start prints the uid; the key may be in the settings file', async () => {
    const user = createOne()
    mkdirSync(join(user.home, '.config'), { recursive: true })
    const settings = join(user.home, '.config/stint.json')
    user.own(settings, `{"url": "${stint.url}/", "api_key": "${stint.key}"}\n`)
    const none = { STINT_URL: '', STINT_API_KEY: '' }
    const uid = (await user.run(['start', 'import'], none)).stdout.trim()
    const said = Buffer.from('Error: a\n  at b\n')
    expect((await user.run(['exception', 'import', '--uid', uid], none, said)).exitCode).toBe(0)
    expect((await user.run(['metric', 'import', '--uid', uid, 'rows=3'], none)).exitCode).toBe(0)
    expect((await user.run(['end', 'import', '--uid', uid, '--failed'], none)).exitCode).toBe(0)
    const run = { uid, state: 'failed', exceptions: ['Error: a\n  at b'], metrics: { rows: 3 } }
    expect(await stint.runs('import')).toMatchObject([run])
    chmodSync(settings, 0o644)
    const refused = await user.run(['start', 'import'], none)
    expect(refused.stderr).toContain(`other users have access to ${settings}; run chmod 600`)
    rmSync(settings)
    for (const wrong of [
      ['metric', 'a'],
      ['metric', 'a', 'b=c'],
      ['exec'],
      ['exec', '--wait', 'x', '--', 'true'],
      ['end'],
      ['watch', 'list'],
    ])
      expect([wrong, (await user.run(wrong)).exitCode]).toEqual([wrong, 2])
    expect((await user.run(['watch', 'list'])).stderr).toContain(`${stint.url}/clients`)
  })

  test('what Stint refuses for good is in refused/, and the rest of its file is stored', async () => {
    const user = createOne()
    const one = await user.run(['start', TOO_LONG])
    expect([one.exitCode, one.stdout, one.stderr]).toEqual([1, '', expect.stringContaining('answered 422')])
    const now = new Date().toISOString()
    const good = `{"kind":"start","process":"refused","uid":"good","at":"${now}"}`
    const bad = '{"kind":"end","process":"refused","uid":"B A"}'
    user.own(join(dirOf(user, stint.url, stint.key), '1.json'), `[${good}\n,${bad}\n]\n`)
    expect((await user.run(['flush'])).stdout).toBe('1 sent, 1 refused, 0 left\n')
    expect(await stint.runs('refused')).toMatchObject([{ uid: 'good', state: 'running' }])
    expect(user.refused()).toHaveLength(2)
  })

  test('flush sends each file of refused/ once more, and what is refused again is renamed', async () => {
    const user = createOne()
    const dir = join(dirOf(user, stint.url, stint.key), 'refused')
    await user.run(['start', TOO_LONG])
    const at = (daysAgo: number) => new Date(Date.now() - daysAgo * DAY_MS).toISOString()
    const end = (uid: string, daysAgo: number) =>
      `{"kind":"end","process":"retried","uid":"${uid}","failed":true,"at":"${at(daysAgo)}"}`
    user.own(join(dir, '1.json'), `[${end('one', 3)}\n]\n`)
    user.own(join(dir, '2.json'), `[${end('two', 2)}\n,${end('old', 8)}\n]\n`)
    user.own(join(dir, 'again-3.json'), `[${end('three', 1)}\n]\n`)
    const { stdout, stderr } = await user.run(['flush'])
    expect(stdout).toBe('2 sent, 0 refused, 0 left\n')
    expect(stderr).toStartWith(
      `stint: refused again: 2 of the events in ${dir}, which stay there (${stint.url} answered 422`,
    )
    if (!kind.isBare) expect(stderr).toContain('is too long ago: older than MAX_AGE (7d)')
    const seen = await stint.runs('retried')
    expect(seen.map(({ uid, state }) => [uid, state])).toEqual([
      ['one', 'failed'],
      ['two', 'failed'],
    ])
    const refused = user.refused()
    expect(refused.map((file) => file.replace(/\d{20}-\d+/, 'retried'))).toEqual(
      expect.arrayContaining(['again-2-2.json', 'again-3.json', 'again-retried.json']),
    )
    expect(await user.run(['flush'])).toMatchObject({ stdout: '0 sent, 0 refused, 0 left\n', stderr: '' })
    expect(user.refused()).toEqual(refused)
    expect(refused).toHaveLength(3)
  })
})

test.skipIf(missing('shells') !== undefined)(
  'a kill of the script leaves its start in a file, whole, and the command goes on',
  async () => {
    const user = createShellUser(deadUrl(), KINDS.dash!)
    created.push(user)
    const [ready, go, over] = ['ready', 'go', 'over'].map((name) => join(user.home, name))
    const script = `echo > ${ready}; while [ ! -e ${go} ]; do sleep 0.05; done; echo still there >&2; echo > ${over}`
    const child = user.start(['exec', '--process', 'killed', '--', 'sh', '-c', script])
    await until('the command', () => existsSync(ready!))
    child.kill('SIGKILL')
    await child.exited
    expect(user.pending()).toMatchObject([{ kind: 'start', body: { process: 'killed' } }])
    writeFileSync(go!, '')
    await until('the command has ended', () => existsSync(over!))
  },
)
