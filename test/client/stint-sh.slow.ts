// The shell client in every shell and with every program that sends, against a server that writes down what comes: a
// command runs as it does without it, Stint hears of it, and nothing is lost that Stint did not take.
import { afterAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createUser, deadUrl, KEY, recordEvents } from '../cli/exec/exec-cast.ts'
import { ROOT } from '../support/readme.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const SCRIPT = join(ROOT, 'src/client/sh/stint.sh')
const APPLETS =
  'sh cat ls sed awk od tr head tail wc cut date id mkdir mktemp mkfifo mv rm dd tee sleep sha256sum kill grep du basename true'

/** A directory with nothing but these programs. */
function binOf(programs: Readonly<Record<string, string>>): string {
  const dir = tempDir('bin')
  for (const [name, path] of Object.entries(programs)) symlinkSync(path, join(dir, name))
  return dir
}
const BUSYBOX = Bun.which('busybox')
const busyboxBin = (more: string[]) =>
  binOf(Object.fromEntries([...APPLETS.split(' '), ...more].map((name) => [name, BUSYBOX!])))
/** The system's programs without curl. */
function withoutCurl(): string {
  const names = [...APPLETS.split(' '), 'wget', 'env'].flatMap((name) => {
    const path = Bun.which(name)
    return path === null ? [] : [[name, path] as const]
  })
  return binOf(Object.fromEntries(names))
}

interface Kind {
  readonly shell: readonly string[]
  readonly path?: () => string
}
const KINDS: Record<string, Kind> = {
  dash: { shell: ['dash'] },
  bash: { shell: ['bash'] },
  'bash --posix': { shell: ['bash', '--posix'] },
  'busybox sh': { shell: ['busybox', 'sh'] },
  'dash with GNU wget': { shell: ['dash'], path: withoutCurl },
  'busybox alone, with its wget': { shell: ['busybox', 'sh'], path: () => busyboxBin(['wget']) },
}

const created: { remove(): void }[] = []
afterAll(() => {
  for (const user of created) user.remove()
})

function createShellUser(url: string, { shell, path }: Kind) {
  const user = createUser(url)
  created.push(user)
  const env = { ...user.env, ...(path && { PATH: path() }) }
  const words = [Bun.which(shell[0]!)!, ...shell.slice(1), SCRIPT]
  const start = (args: readonly string[], more: Record<string, string> = {}, stdin?: Uint8Array) =>
    Bun.spawn([...words, ...args], {
      env: { ...env, ...more },
      stdin: stdin ?? 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
  async function finish(child: ReturnType<typeof start>) {
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    await child.exited
    return { exitCode: child.exitCode, signal: child.signalCode as string | null, stdout, stderr }
  }
  const run = (args: readonly string[], more?: Record<string, string>, stdin?: Uint8Array) =>
    finish(start(args, more, stdin))
  return { ...user, start, finish, run }
}

describe.each(Object.entries(KINDS))('in %s', (name, kind) => {
  const isThere = Bun.which(kind.shell[0]!) !== null && (!name.includes('busybox') || BUSYBOX !== null)
  const it = test.skipIf(!isThere || (name.includes('GNU wget') && Bun.which('wget') === null))
  const stint = recordEvents()
  afterAll(() => stint.stop())
  const since = async (count: number, before: number) => {
    await until(
      `${count} events`,
      () => new Set(stint.events.slice(before).map((it) => JSON.stringify(it))).size >= count,
    )
    return [...new Map(stint.events.slice(before).map((it) => [JSON.stringify(it), it])).values()]
  }

  it('a command that succeeds is a start and an end with one uid; output and exit code pass', async () => {
    const before = stint.events.length
    const user = createShellUser(stint.url, kind)
    const ended = await user.run(
      ['exec', '--process', 'nightly "é"', '--meta=eu', '--', 'sh', '-c', 'cat; echo e >&2'],
      {},
      Buffer.from('in\n'),
    )
    expect(ended).toEqual({ exitCode: 0, signal: null, stdout: 'in\n', stderr: 'e\n' })
    const [start, end] = await since(2, before)
    expect([start!.path, end!.path]).toEqual(['/v1/start', '/v1/end'])
    expect(start!.body).toMatchObject({ process: 'nightly "é"', meta: 'eu', uid: end!.body.uid! })
    expect(start!.body.uid).toMatch(/^[0-9a-f]{32}$/)
    expect(end!.body.at! > start!.body.at!).toBe(true)
    expect([start!.key, end!.key]).toEqual([KEY, KEY])
    expect(user.pendingFiles()).toEqual([])
    expect(readdirSync(user.home).filter((it) => it.startsWith('stint.'))).toEqual([])
  })

  it('one that fails has failed, with how it ended and the last 12,000 characters of its standard error', async () => {
    const before = stint.events.length
    const user = createShellUser(stint.url, kind)
    const script =
      'i=0; while [ $i -lt 3000 ]; do echo "é $i \\"" >&2; i=$((i+1)); done; printf "\\377!\\n" >&2; exit 4'
    const { exitCode, stderr } = await user.run(['exec', '--ok', '3', '--', 'sh', '-c', script, '--password=hunter2'])
    expect([exitCode, stderr.split('\n').length]).toEqual([4, 3002])
    const heard = await since(3, before)
    const { at, ...exception } = heard.find(({ path }) => path === '/v1/exception')!.body
    const end = heard.find(({ path }) => path === '/v1/end')!.body
    expect(end).toMatchObject({ failed: true })
    expect(at! < end.at!).toBe(true)
    expect([...exception.exception!].length).toBe(12_000 + 'sh: exited with code 4\n'.length)
    expect(exception.exception).toStartWith('sh: exited with code 4\n')
    expect(exception.exception).toEndWith('é 2999 "\n�!')
    expect(JSON.stringify(heard)).not.toContain('hunter2')
  })

  it('an exit code that --ok names is a success, and a large one passes', async () => {
    const user = createShellUser(stint.url, kind)
    const before = stint.events.length
    expect((await user.run(['exec', '--ok', '3,200', '--', 'sh', '-c', 'exit 200'])).exitCode).toBe(200)
    expect((await since(2, before)).map(({ path }) => path)).toEqual(['/v1/start', '/v1/end'])
  })

  it('a command that is not there ends with 127, and the line says where it was looked for', async () => {
    const user = createShellUser(stint.url, kind)
    const before = stint.events.length
    const { exitCode, stderr } = await user.run(['exec', '--', 'no-such-command'])
    expect([exitCode, stderr]).toEqual([
      127,
      expect.stringMatching(/^stint: no-such-command: command not found; looked in PATH=\/.*\n$/),
    ])
    const text = (await since(3, before)).find(({ path }) => path === '/v1/exception')!.body.exception
    expect(text).toStartWith('no-such-command: command not found\nlooked in PATH=/')
    const plain = join(user.home, 'plain')
    writeFileSync(plain, 'x', { mode: 0o644 })
    expect((await user.run(['exec', '--', plain])).exitCode).toBe(126)
  })

  it.each(['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGINT'] as const)(
    '%s reaches the command, which may end as it likes',
    async (signal) => {
      const user = createShellUser(stint.url, kind)
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

  it('a command that a signal ends has failed by it, and so has the script', async () => {
    const user = createShellUser(stint.url, kind)
    const before = stint.events.length
    const child = user.start(['exec', '--process', 'sleeper', '--', 'sleep', '60'])
    await until('the start', () => stint.events.length > before)
    child.kill('SIGTERM')
    expect(await user.finish(child)).toMatchObject({ signal: 'SIGTERM', stderr: '' })
    const heard = await since(3, before)
    expect(heard.find(({ path }) => path === '/v1/exception')!.body.exception).toBe('sleep: was ended by SIGTERM')
    expect(await user.run(['exec', '--', 'sh', '-c', 'kill -KILL $$'])).toMatchObject({ exitCode: 137, stderr: '' })
  })

  it('a signal that comes once Stint has heard of the run reaches the command', async () => {
    const user = createShellUser(stint.url, kind)
    const bin = tempDir('bin')
    const ask = join(bin, 'env') // the last program that runs before the command
    writeFileSync(ask, `#!/bin/sh\nsleep 0.5\nPATH=\${PATH#*:}\nexec env "$@"\n`, { mode: 0o755 })
    const before = stint.events.length
    const PATH = `${bin}:${kind.path?.() ?? process.env.PATH}`
    const child = user.start(['exec', '--process', 'sleeper', '--', 'sleep', '60'], { PATH })
    await until('the start', () => stint.events.length > before)
    child.kill('SIGTERM')
    expect(await user.finish(child)).toMatchObject({ signal: 'SIGTERM', stderr: '' })
    expect((await since(3, before)).map(({ path }) => path).sort()).toEqual(['/v1/end', '/v1/exception', '/v1/start'])
  })

  it('a process that the command leaves running delays nothing, and its standard error works', async () => {
    const user = createShellUser(stint.url, kind)
    const go = join(user.home, 'go')
    const script = `(while [ ! -e ${go} ]; do sleep 0.05; done; echo late >&2) & echo early >&2; exit 5`
    const child = user.start(['exec', '--', 'sh', '-c', script])
    await child.exited
    expect(child.exitCode).toBe(5)
    writeFileSync(go, '')
    expect(await new Response(child.stderr).text()).toBe('early\nlate\n')
  })

  it('while Stint is away the events are in one private file without the key, and the next call sends them', async () => {
    const url = deadUrl()
    const user = createShellUser(url, kind)
    const { exitCode, stderr } = await user.run(['exec', '--process', 'away', '--', 'sh', '-c', 'echo err >&2; exit 3'])
    expect([exitCode, stderr]).toEqual([
      3,
      expect.stringMatching(/^err\nstint: cannot reach Stint at http.*; 3 events kept, sent later\n$/),
    ])
    expect(user.pending().map(({ kind }) => kind)).toEqual(['start', 'end', 'exception'])
    const [file] = user.pendingFiles()
    expect(dirname(file!)).toBe(createHash('sha256').update(`${url}\n${KEY}`).digest('hex').slice(0, 16))
    expect(statSync(join(user.stateDir, file!)).mode & 0o777).toBe(0o600)
    expect(statSync(join(user.stateDir, dirname(file!))).mode & 0o777).toBe(0o700)
    const kept = await user.run(['metric', 'away', 'rows=12', 'bytes read=+.5e6'])
    expect([kept.exitCode, kept.stderr]).toEqual([0, expect.stringContaining('1 event kept, sent later')])

    const before = stint.events.length
    const elsewhere = await user.run(['flush'], { STINT_URL: stint.url })
    expect(elsewhere.stdout).toBe('0 sent, 0 refused, 0 left, 4 for another address or key (--all sends them here)\n')
    expect((await user.run(['flush', '--all'], { STINT_URL: stint.url })).stdout).toBe('4 sent, 0 refused, 0 left\n')
    const heard = await since(4, before)
    expect(heard.map(({ path }) => path).toSorted()).toEqual(['/v1/end', '/v1/exception', '/v1/metrics', '/v1/start'])
    expect(heard.find(({ path }) => path === '/v1/metrics')!.body.items as unknown).toEqual({
      rows: 12,
      'bytes read': 500_000,
    })
  })

  it('single events are sent; start prints the uid; the key may be in the settings file', async () => {
    const user = createShellUser(stint.url, kind)
    mkdirSync(join(user.home, '.config'), { recursive: true })
    const settings = join(user.home, '.config/stint.json')
    writeFileSync(settings, `{"url": "${stint.url}/", "api_key": "from-the-file"}\n`, { mode: 0o600 })
    const none = { STINT_URL: '', STINT_API_KEY: '' }
    const before = stint.events.length
    const uid = (await user.run(['start', 'import'], none)).stdout.trim()
    expect(
      (await user.run(['exception', 'import', '--uid', uid], none, Buffer.from('Error: a\n  at b\n'))).exitCode,
    ).toBe(0)
    expect((await user.run(['end', 'import', '--uid', uid, '--failed'], none)).exitCode).toBe(0)
    const heard = await since(3, before)
    expect(heard.map(({ path, key, body }) => [path, key, body.uid])).toEqual(
      ['/v1/start', '/v1/exception', '/v1/end'].map((path) => [path, 'from-the-file', uid]),
    )
    expect(heard[1]!.body.exception).toBe('Error: a\n  at b')
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

  it('what Stint refuses for good is in refused/, and the rest of its file is stored', async () => {
    const answer = ({ body }: { body: Record<string, string> }) =>
      body.process === 'bad'
        ? Response.json(
            { title: 'x', detail: 'no such', errors: [{ pointer: '/uid', detail: 'bad' }] },
            { status: 422 },
          )
        : undefined
    const picky = recordEvents(answer)
    const user = createShellUser(picky.url, kind)
    const one = await user.run(['start', 'bad'])
    expect([one.exitCode, one.stdout, one.stderr]).toEqual([1, '', expect.stringContaining('answered 422')])
    const dir = join(user.stateDir, createHash('sha256').update(`${picky.url}\n${KEY}`).digest('hex').slice(0, 16))
    writeFileSync(join(dir, '1.json'), '[{"kind":"start","process":"good"}\n,{"kind":"end","process":"bad"}\n]\n')
    expect((await user.run(['flush'])).stdout).toBe('1 sent, 1 refused, 0 left\n')
    expect(picky.events.some(({ body }) => body.process === 'good')).toBe(true)
    expect(readdirSync(join(dir, 'refused')).length).toBe(2)
    await picky.stop()
  })
})

test('a kill of the script leaves its start in a file, whole, and the command goes on', async () => {
  const user = createShellUser(deadUrl(), KINDS.dash!)
  const [ready, go, over] = ['ready', 'go', 'over'].map((name) => join(user.home, name))
  const script = `echo > ${ready}; while [ ! -e ${go} ]; do sleep 0.05; done; echo still there >&2; echo > ${over}`
  const child = user.start(['exec', '--process', 'killed', '--', 'sh', '-c', script])
  await until('the command', () => existsSync(ready!))
  child.kill('SIGKILL')
  await child.exited
  expect(user.pending()).toMatchObject([{ kind: 'start', body: { process: 'killed' } }])
  writeFileSync(go!, '')
  await until('the command has ended', () => existsSync(over!))
})
