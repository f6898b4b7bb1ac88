// What Stint hears of a command, and that the command hears nothing of Stint: away, slow, refusing or silent, it runs and ends all the same.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { SeenRun } from '../../support/real-stint.ts'
import { until } from '../../support/until.ts'
import { deadUrl, KEY, MAIN, type Sent, usePerTest } from './exec-cast.ts'

const { listen, open, userOf, silence } = usePerTest()

const paths = (events: readonly Sent[]) => events.map(({ path }) => path)

test('a command that succeeds is a completed run with its name, its times and a new uid', async () => {
  const stint = await open()
  const user = userOf(stint.url, stint.key)
  const before = Date.now()
  await user.exec(['/bin/sleep', '0.3'])
  const after = Date.now()
  const runs = await stint.runs('sleep')
  expect(runs).toMatchObject([{ meta: null, state: 'completed', exceptions: [], outputs: [], metrics: {} }])
  const [{ uid, startedAt, endedAt }] = runs as [SeenRun]
  expect(uid).toMatch(/^[0-9a-f-]{36}$/)
  const [startedMs, endedMs] = [Date.parse(startedAt!), Date.parse(endedAt!)]
  expect(startedMs).toBeGreaterThanOrEqual(before)
  expect(endedMs).toBeLessThanOrEqual(after)
  expect(endedMs - startedMs).toBeGreaterThanOrEqual(300)
  expect(endedMs - startedMs).toBeLessThan(after - before)
  await user.exec(['true'])
  expect((await stint.runs('true'))[0]!.uid).not.toBe(uid)
})

describe('a command that fails', () => {
  test('is a failed run with the exit code and the end of its stderr, without its arguments', async () => {
    const stint = await open()
    const user = userOf(stint.url, stint.key)
    await user.run(['exec', '--meta', 'eu', '--', 'sh', '-c', 'echo oh no >&2; exit 4', '--password=hunter2'])
    const exceptions = ['sh: exited with code 4\noh no']
    expect(await stint.runs('sh')).toMatchObject([{ meta: 'eu', state: 'failed', exceptions, outputs: [] }])
    expect(JSON.stringify(await stint.events())).not.toContain('hunter2')
  })

  test('with --output brings the end of what it said, and with --no-output nothing of its standard output', async () => {
    const stint = await open()
    const user = userOf(stint.url, stint.key)
    const script = 'seq 3000; echo no rate for EUR; exit 1'
    await user.run(['exec', '--process', 'said', '--output', '--', 'sh', '-c', script])
    await user.run(['exec', '--process', 'quiet', '--no-output', '--', 'sh', '-c', script])
    const [said] = await stint.runs('said')
    expect(said!.outputs).toHaveLength(1)
    expect(said!.outputs[0]).toEndWith('\n2999\n3000\nno rate for EUR')
    expect(await stint.runs('quiet')).toMatchObject([{ state: 'failed', outputs: [] }])
    expect(JSON.stringify((await stint.events()).filter(({ process }) => process === 'quiet'))).not.toContain('rate')
  })

  const SAID = 'echo "no rate for EUR"; echo "WARN slow" >&2; exit 1'
  const QUIET = 'sh: exited with code 1\nWARN slow'
  const TOLD = 'sh: exited with code 1\nno rate for EUR\nWARN slow'
  test.each([
    ['a pipe of its own', '2>/dev/null | cat', {}, QUIET],
    ['a pipe of its own, and STINT_OUTPUT=1', '2>/dev/null | cat', { STINT_OUTPUT: '1' }, TOLD],
    ['the pipe of standard error', '2>&1 | cat', {}, TOLD],
    ['the pipe of standard error, and STINT_OUTPUT=0', '2>&1 | cat', { STINT_OUTPUT: '0' }, QUIET],
    ['the null device, as standard error', '>/dev/null 2>&1', {}, TOLD],
    ['a file', '>out.txt', { STINT_OUTPUT: '1' }, QUIET],
    ['the file of standard error', '>out.txt 2>&1', { STINT_OUTPUT: '1' }, QUIET],
  ])('whose standard output is %s', async (_, redirected, more, text) => {
    const stint = await open()
    const user = userOf(stint.url, stint.key)
    const env = { ...user.env, ...more, MAIN, SAID, BUN: process.execPath }
    const script = `"$BUN" "$MAIN" exec -- sh -c "$SAID" ${redirected}`
    await Bun.spawn(['sh', '-c', script], { env, cwd: user.home, stdout: 'pipe', stderr: 'pipe' }).exited
    expect((await stint.runs('sh')).map(({ exceptions }) => exceptions)).toEqual([[text]])
  })

  test('whose standard output is a socket, as with journald, and of data nothing', async () => {
    const stint = await open()
    const user = userOf(stint.url, stint.key)
    await user.exec(['sh', '-c', SAID])
    await user.run(['exec', '--process', 'data', '--', 'sh', '-c', 'printf "a\\0b"; exit 1'])
    expect(await stint.runs('sh')).toMatchObject([{ exceptions: [TOLD], outputs: ['no rate for EUR'] }])
    expect(await stint.runs('data')).toMatchObject([{ exceptions: ['sh: exited with code 1'], outputs: [] }])
  })

  test.each([
    ['that is ended by a signal', ['sh', '-c', 'kill -KILL $$'], 'sh: was ended by SIGKILL'],
    ['that is not there', ['no-such-command'], 'no-such-command: command not found'],
  ])('one %s', async (_, command, text) => {
    const stint = await open()
    await userOf(stint.url, stint.key).exec(command)
    expect(await stint.runs(command[0]!)).toMatchObject([{ state: 'failed', exceptions: [text] }])
  })

  test('truncates its stderr to the size of an exception', async () => {
    const stint = await open()
    const { stderr } = await userOf(stint.url, stint.key).exec([
      'sh',
      '-c',
      'i=0; while [ $i -lt 4000 ]; do echo "é $i" >&2; i=$((i+1)); done; exit 1',
    ])
    const text = (await stint.runs('sh'))[0]!.exceptions[0]!
    expect([...text].length).toBeLessThanOrEqual(15_000)
    expect([...text].length).toBeGreaterThan(11_000)
    expect(text.endsWith('é 3998\né 3999')).toBe(true)
    expect(stderr.toString().endsWith('é 3999\n')).toBe(true)
  })
})

describe('the start is sent beside the command', () => {
  test('while it runs', async () => {
    const stint = await open()
    const child = userOf(stint.url, stint.key).start(['exec', '--', 'sleep', '60'])
    await until('the start', async () => (await stint.runs('sleep')).length === 1)
    expect(await stint.runs('sleep')).toMatchObject([{ state: 'running' }])
    expect(child.exitCode).toBeNull()
    child.kill()
    await child.exited
    expect(await stint.runs('sleep')).toMatchObject([{ state: 'failed', exceptions: ['sleep: was ended by SIGTERM'] }])
  })

  test('and does not delay the command', async () => {
    const user = userOf(silence().url)
    const ran = join(user.home, 'ran')
    const child = user.start(['exec', '--wait', '0s', '--', 'sh', '-c', `echo > ${ran}; exec sleep 60`])
    await until('the command', () => statSync(ran, { throwIfNoEntry: false }) !== undefined)
    child.kill()
    await child.exited
  })
})

describe('while Stint is unreachable', () => {
  test('runs the command, prints one line, and keeps its events readable only by the user, without the key; flush prints what is left', async () => {
    const url = deadUrl()
    const user = userOf(url)
    const { exitCode, stdout, stderr } = await user.exec(['sh', '-c', 'echo out; echo err >&2; sleep 0.3; exit 3'])
    expect([exitCode, stdout.toString()]).toEqual([3, 'out\n'])
    expect(stderr.toString()).toBe(
      `err\nstint: cannot reach Stint at ${url} (connection refused); 3 events kept, sent later\n`,
    )
    expect(user.pending().map(({ kind }) => kind)).toEqual(['start', 'end', 'exception'])
    for (const name of user.pendingFiles()) {
      expect(statSync(join(user.stateDir, name)).mode & 0o777).toBe(0o600)
      expect(statSync(join(user.stateDir, dirname(name))).mode & 0o777).toBe(0o700)
      expect(readFileSync(join(user.stateDir, name), 'utf8')).not.toContain(KEY)
    }
    const hash = createHash('sha256').update(`${url}\n${KEY}`).digest('hex')
    expect(user.pendingFiles().map(dirname)).toEqual([hash.slice(0, 16)])
    const flushed = await user.run(['flush'])
    expect([flushed.exitCode, flushed.stderr.toString()]).toEqual([
      1,
      `stint: 0 sent, 0 refused, 3 left: cannot reach Stint at ${url} (connection refused)\n`,
    ])
  })

  test('and reachable again, the next job sends the kept events unchanged, oldest first', async () => {
    const user = userOf(deadUrl())
    for (const name of ['a', 'b']) await user.run(['exec', '--process', name, 'true'])
    const kept = user.pending()
    expect(kept.map(({ body }) => body.process)).toEqual(['a', 'a', 'b', 'b'])

    const stint = await open()
    const env = { STINT_URL: stint.url, STINT_API_KEY: stint.key }
    expect((await user.run(['flush'], { env })).stdout.toString()).toBe(
      '0 sent, 0 refused, 0 left, 4 for another address or key (--all sends them here)\n',
    )
    await user.run(['flush', '--all'], { env })
    for (const name of ['a', 'b']) {
      const [started, ended] = kept.filter(({ body }) => body.process === name).map(({ body }) => body.at!)
      expect(await stint.runs(name)).toMatchObject([
        { state: 'completed', startedAt: started!.replace('Z', '000Z'), endedAt: ended!.replace('Z', '000Z') },
      ])
    }
    expect(await stint.events()).toHaveLength(4)
    expect(user.pendingFiles()).toEqual([])
  })

  test('a later job, however short, sends the events kept for the same Stint', async () => {
    let isUp = false
    const stint = listen(() => (isUp ? undefined : new Response(null, { status: 503 })))
    const user = userOf(stint.url)
    await user.run(['exec', '--process', 'elsewhere', 'true'], { env: { STINT_URL: deadUrl() } })
    await user.run(['exec', '--process', 'before', 'true'])
    isUp = true
    stint.events.length = 0
    const { stderr } = await user.run(['exec', '--process', 'after', 'true'])
    expect(stderr.toString()).toBe('')
    await until('what was kept is sent', () =>
      user.pendingFiles().every((name) => readFileSync(join(user.stateDir, name), 'utf8').includes('elsewhere')),
    )
    expect(new Set(stint.events.map(({ path, body }) => `${path} ${body.process}`))).toEqual(
      new Set(['/v1/start before', '/v1/end before', '/v1/start after', '/v1/end after']),
    )
    expect(user.pending().map(({ body }) => body.process)).toEqual(['elsewhere', 'elsewhere'])
  })

  test.each([
    [
      'a key that is not valid',
      () => Response.json({ title: 'The API key is missing or not valid' }, { status: 401 }),
      'answered 401: The API key is missing or not valid',
    ],
    ['something that is not Stint', () => new Response('<h1>Welcome</h1>'), 'answered 200'],
    ['a redirect, which the key does not follow', () => Response.redirect('http://127.0.0.1:1/'), 'answered 302'],
  ])('%s keeps the events', async (_, answer, said) => {
    const stint = listen(answer)
    const user = userOf(stint.url)
    const { exitCode, stderr } = await user.exec(['sleep', '0.3'])
    expect(exitCode).toBe(0)
    expect(stderr.toString()).toMatch(/^stint: [^\n]*2 events kept, sent later\n$/)
    expect(stderr.toString()).toContain(said)
    expect(user.pending()).toHaveLength(2)
  })

  test('drops events that Stint refuses permanently, and one line names the flag and the reason', async () => {
    const stint = listen(() =>
      Response.json(
        { title: 'The body is not valid', errors: [{ pointer: '/uid', detail: 'must be of a-z, 0-9, - and _' }] },
        { status: 422 },
      ),
    )
    const user = userOf(stint.url)
    const { exitCode, stderr } = await user.run(['exec', '--uid', 'A', 'sleep', '0.3'])
    expect(exitCode).toBe(0)
    // On a busy machine the end is answered too late, and dropped in the background.
    const [line] = stderr.toString().split(/; 1 event kept, sent later|\n/)
    expect(line).toBe(`stint: ${stint.url} answered 422: The body is not valid; --uid must be of a-z, 0-9, - and _`)
    await until('nothing is kept', () => user.pendingFiles().length === 0)
  })

  test('drops kept events that are refused later with one line and sends the rest', async () => {
    const user = userOf(deadUrl())
    await user.run(['exec', '--process', 'old', 'true'])
    await user.run(['exec', '--process', 'new', 'true'])
    const stint = listen(({ body }) =>
      body.process === 'old'
        ? Response.json(
            { title: 'The body is not valid', errors: [{ pointer: '/at', detail: 'is too long ago' }] },
            { status: 422 },
          )
        : undefined,
    )
    const { exitCode, stdout, stderr } = await user.run(['flush', '--all'], { env: { STINT_URL: stint.url } })
    expect([exitCode, stdout.toString()]).toEqual([0, '2 sent, 2 refused, 0 left\n'])
    expect(stderr.toString()).toMatch(
      /^stint: refused, and moved to refused\/: \S+ answered 422: The body is not valid; --at is too long ago\n$/,
    )
    expect(user.pendingFiles()).toEqual([])
  })

  test('without a home that can be written, events are kept in a directory of the user among temporary files', async () => {
    const user = userOf(deadUrl())
    writeFileSync(join(user.home, '.local'), 'a file where a directory should be')
    const { exitCode, stderr } = await user.exec(['sh', '-c', 'exit 5'])
    expect(exitCode).toBe(5)
    expect(stderr.toString()).toMatch(/^stint: [^\n]*; 3 events kept, sent later\n$/)
    const kept = join(user.home, `stint-${process.getuid!()}`)
    expect(statSync(kept).mode & 0o777).toBe(0o700)
    const { stderr: said } = await user.run(['flush'])
    expect(said.toString()).toContain('3 left')
    chmodSync(kept, 0o755) // somebody else could have put files there
    expect((await user.exec(['sh', '-c', 'exit 5'])).stderr.toString()).toContain('3 events lost')
  })

  test('if nothing can be written, it names directory and variable', async () => {
    const user = userOf(deadUrl())
    writeFileSync(join(user.home, '.local'), 'a file where a directory should be')
    const { exitCode, stderr } = await user.exec(['sh', '-c', 'exit 5'], { env: { TMPDIR: '/proc' } })
    expect(exitCode).toBe(5)
    expect(stderr.toString()).toEndWith(
      `; 3 events lost: cannot write ${user.stateDir} (ENOTDIR); set XDG_STATE_HOME to a directory that this user may write\n`,
    )
  })

  test.each([
    [
      'no key',
      { STINT_API_KEY: '' },
      'no API key; set STINT_API_KEY, or api_key in ~/.config/stint.json; 2 events kept, sent later',
    ],
    [
      'a key of two lines',
      { STINT_API_KEY: `${KEY}\nx` },
      'stint: invalid STINT_API_KEY: expected one key and nothing else; 2 events kept, sent later\n',
    ],
    [
      'an invalid address',
      { STINT_URL: 'nonsense' },
      'invalid STINT_URL: expected an address such as http://127.0.0.1:7070; the command was not timed',
    ],
  ])('nor is %s', async (_, env, said) => {
    const { exitCode, stdout, stderr } = await userOf(deadUrl()).exec(['sh', '-c', 'echo ran'], { env })
    expect([exitCode, stdout.toString()]).toEqual([0, 'ran\n'])
    expect(stderr.toString()).toContain(said)
    expect(stderr.toString()).not.toContain(KEY)
  })
})

describe('the answer is waited for', () => {
  test('from a slow Stint: each event is stored, nothing is kept or printed', async () => {
    const stint = listen(async () => {
      await Bun.sleep(100)
      return undefined
    })
    const user = userOf(stint.url)
    const { stderr } = await user.exec(['sh', '-c', 'exit 1'])
    expect(stderr.toString()).toBe('')
    expect(new Set(paths(stint.events))).toEqual(new Set(['/v1/start', '/v1/end', '/v1/exception']))
    expect(user.pendingFiles()).toEqual([])
    const last = JSON.parse(stint.requests.at(-1)!.text) as { kind: string }[]
    expect(last.map(({ kind }) => kind).slice(-2)).toEqual(['end', 'exception'])
  })

  test('after lost answers: the same events are sent again', async () => {
    let lost = 0
    await using proxy = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        async data(socket, data) {
          const body = data.toString().split('\r\n\r\n')[1] ?? ''
          if (lost++ < 3) return void socket.end()
          const { status } = await fetch(`${stint.url}/v1/batch`, { method: 'POST', body })
          socket.end(`HTTP/1.1 ${status} OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`)
        },
      },
    })
    const stint = listen()
    const user = userOf(`http://127.0.0.1:${proxy.port}`)
    const { stderr } = await user.exec(['true'])
    expect(stderr.toString()).toBe('')
    expect(new Set(paths(stint.events))).toEqual(new Set(['/v1/start', '/v1/end']))
    expect(user.pendingFiles()).toEqual([])
  })

  test('that says when to come again: within the wait the events are sent again', async () => {
    let isUp = false
    const stint = listen(({ path }) => {
      const answer = isUp ? undefined : new Response(null, { status: 503, headers: { 'retry-after': '1' } })
      if (path === '/v1/end') isUp = true
      return answer
    })
    const user = userOf(stint.url)
    const { stderr } = await user.exec(['true'])
    expect(stderr.toString()).toBe('')
    expect(user.pendingFiles()).toEqual([])
    expect(paths(stint.events)).toContain('/v1/start')
  })

  test('but not for one that says a later time than the wait', async () => {
    const stint = listen(() => new Response(null, { status: 503, headers: { 'retry-after': '3600' } }))
    const user = userOf(stint.url)
    const { stderr } = await user.exec(['true'])
    expect(stderr.toString()).toContain('answered 503; 2 events kept, sent later')
  })

  test('as long as --wait says, and not at all in the minute after a wait in vain', async () => {
    const user = userOf(silence().url)
    const first = await user.run(['exec', '--wait', '1s', '--', 'true'])
    expect(first.stderr.toString()).toMatch(/^stint: [^\n]*no answer in time\); 2 events kept, sent later\n$/)
    const marker = join(user.stateDir, dirname(user.pendingFiles()[0]!), '.silent')
    const noted = statSync(marker).mtimeMs
    const second = await user.run(['exec', '--wait', '1h', '--', 'true'])
    expect(second.stderr.toString()).toContain('Stint took no events a moment ago; 2 events kept, sent later')
    expect(statSync(marker).mtimeMs).toBe(noted)
    expect(user.pending()).toHaveLength(4)
  })

  test('a signal after the end of the command ends the waiting, and the events are kept', async () => {
    const user = userOf(silence().url)
    const child = user.start(['exec', '--wait', '1h', '--', 'sh', '-c', 'exit 3'])
    await until('the end is kept', () => user.pending().length === 3)
    child.kill('SIGTERM')
    expect(await child.exited).toBe(3)
    expect(user.pending()).toHaveLength(3)
  })

  test('kill -9 while it waits loses nothing, and everything is sent once', async () => {
    const user = userOf(silence().url)
    const child = user.start(['exec', '--', 'sh', '-c', 'exit 3'])
    await until('the end is kept', () => user.pending().length === 3)
    child.kill('SIGKILL')
    await child.exited
    const stint = await open()
    await user.run(['flush', '--all'], { env: { STINT_URL: stint.url, STINT_API_KEY: stint.key } })
    expect(await stint.runs('sh')).toMatchObject([{ state: 'failed', exceptions: ['sh: exited with code 3'] }])
    expect(user.pendingFiles()).toEqual([])
  })
})

test('leaves foreign files in the directory of events unchanged', async () => {
  const stint = await open()
  const user = userOf(stint.url, stint.key)
  mkdirSync(user.stateDir, { recursive: true })
  for (const name of ['notes.txt', 'pending-x.jsonl']) writeFileSync(join(user.stateDir, name), 'mine')
  chmodSync(user.stateDir, 0o755)
  await user.exec(['true'])
  expect(readFileSync(join(user.stateDir, 'notes.txt'), 'utf8')).toBe('mine')
  expect(readFileSync(join(user.stateDir, 'pending-x.jsonl'), 'utf8')).toBe('mine')
})
