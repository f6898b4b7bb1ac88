// `stint start|end|metric|exception` and the settings file: what reaches the server, and what a script sees.
import { describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPerson } from './cli-cast.ts'
import { deadUrl, KEY, usePerTest } from './exec/exec-cast.ts'

const { listen, open, userOf } = usePerTest()
const env = { STINT_API_KEY: KEY }

describe('one event', () => {
  test('start prints the uid of a run that Stint shows as running', async () => {
    const stint = await open()
    const { exitCode, stdout, stderr } = await createPerson(stint.url).run(
      ['start', 'nightly import', '--meta', 'eu'],
      { env: { STINT_API_KEY: stint.key } },
    )
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^[0-9a-f-]{36}\n$/)
    expect(await stint.runs('nightly import')).toMatchObject([{ meta: 'eu', uid: stdout.trim(), state: 'running' }])
  })

  test('start on a terminal says how the run ends', async () => {
    const person = createPerson(listen().url)
    for (const [given, same] of [
      ['', 'process'],
      [' --meta eu', 'process and --meta'],
    ]) {
      const { stdout, stderr } = await person.run(`start p${given}`, { env, columns: 80 })
      expect(stderr).toBe(`End this run with the same ${same}, and --uid ${stdout}`)
    }
  })

  test('a run sent piece by piece has its state, exception and metrics; each event has its own time', async () => {
    const stint = await open()
    const person = createPerson(stint.url)
    const send = async (...args: string[]) =>
      expect((await person.run(args, { env: { STINT_API_KEY: stint.key } })).exitCode).toBe(0)
    const before = Date.now()
    await send('start', 'p', '--meta', 'm', '--uid', 'a-1')
    await send('metric', 'p', '--meta', 'm', '--uid', 'a-1', 'rows=     3', 'bytes read=-1.5e3', 'a=b=0')
    await send('exception', 'p', 'Error: no', '--uid', 'a-1', '--meta', 'm')
    await send('end', 'p', '--meta', 'm', '--uid', 'a-1', '--failed')
    const runs = await stint.runs('p')
    expect(runs).toMatchObject([{ meta: 'm', uid: 'a-1', state: 'failed', exceptions: ['Error: no'] }])
    expect(runs[0]!.metrics).toEqual({ rows: 3, 'bytes read': -1500, 'a=b': 0 })
    expect(Date.parse(runs[0]!.startedAt!)).toBeGreaterThanOrEqual(before)
    await send('start', 'q', '--uid', 'a-1')
    await send('end', 'q', '--uid', 'a-1')
    expect(await stint.runs('q')).toMatchObject([{ state: 'completed' }])
    expect((await stint.events()).every(({ stamp }) => stamp.sub % 2 === 1)).toBe(true) // odd: brought by the event
  })

  test('the last 15,000 characters of standard input are an exception', async () => {
    const stint = await open()
    const stdin = `${'x'.repeat(20_000)}\nValueError: é`
    await createPerson(stint.url).run('exception p', { env: { STINT_API_KEY: stint.key }, stdin })
    expect(await stint.exceptions('p')).toEqual([stdin.slice(-15_000)])
  })

  test.each(['rows', '=3', 'rows= ', 'rows=Infinity', 'rows=0x10'])('metric %j is a usage error', async (item) => {
    const stint = listen()
    const { exitCode, stderr } = await createPerson(stint.url).run(['metric', 'p', item], { env })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('Expected NAME=VALUE')
    expect(stint.events).toEqual([])
  })

  test.each([
    [['metric', 'p', 'rows=1', 'rows=2'], 2, 'The metric "rows" is named twice.'],
    [['exception', 'p', ''], 1, 'nothing was sent'],
    [['exception', 'p'], 1, 'nothing was sent'],
  ])('%j is refused', async (args, code, why) => {
    const stint = listen()
    const { exitCode, stderr } = await createPerson(stint.url).run(args, { env })
    expect(exitCode).toBe(code)
    expect(stderr).toContain(why)
    expect(stint.events).toEqual([])
  })

  test('a refused event exits with 1 and names the flag', async () => {
    const errors = [{ pointer: '/uid', detail: 'may only hold a-z, 0-9, - and _' }]
    const stint = listen(() => Response.json({ title: 'The body is not valid', errors }, { status: 422 }))
    const { exitCode, stderr } = await createPerson(stint.url).run('end p --uid A', { env })
    expect([exitCode, stderr]).toEqual([
      1,
      `stint: ${stint.url} answered 422: The body is not valid; --uid may only hold a-z, 0-9, - and _\n`,
    ])
    expect((await createPerson(stint.url).run('start p --uid A', { env })).stdout).toBe('')
    // Without its uid the server would store it, as an exception of no run.
    expect((await createPerson(stint.url).run('exception p no --uid A', { env })).exitCode).toBe(1)
    expect(stint.events).toHaveLength(3)
  })
})

describe('while Stint is unreachable', () => {
  test('events are kept without failing the script, and flush sends them in order', async () => {
    const away = deadUrl()
    const user = userOf(away)
    for (const args of [
      ['start', 'p', '--uid', 'u'],
      ['metric', 'p', 'rows=3'],
      ['end', 'p', '--uid', 'u', '--failed'],
    ]) {
      const { exitCode, stderr } = await user.run(args)
      expect(exitCode).toBe(0)
      expect(stderr.toString()).toBe(
        `stint: cannot reach Stint at ${away} (connection refused); event kept, sent later\n`,
      )
    }
    const stint = await open()
    const there = { STINT_URL: stint.url, STINT_API_KEY: stint.key }
    const ours = await user.run(['flush'], { env: there })
    expect(ours.stdout.toString()).toBe(
      '0 sent, 0 refused, 0 left, 3 for another address or key (--all sends them here)\n',
    )
    const { stdout } = await user.run(['flush', '--all'], { env: there })
    expect(stdout.toString()).toBe('3 sent, 0 refused, 0 left\n')
    expect(await stint.runs('p')).toMatchObject([{ uid: 'u', state: 'failed' }])
    expect(await stint.metrics('p')).toEqual({ rows: 3 })
    expect(user.pendingFiles()).toEqual([])
  })

  test('a lost event exits with 1', async () => {
    const user = userOf(deadUrl())
    writeFileSync(join(user.home, '.local'), 'a file where a directory should be')
    const { exitCode, stderr } = await user.run(['end', 'p'], { env: { TMPDIR: '/proc' } })
    expect(exitCode).toBe(1)
    expect(stderr.toString()).toContain('event lost: cannot write')
  })
})

describe('the settings file', () => {
  function settle(settings: unknown, mode = 0o600) {
    const person = createPerson('')
    const path = join(person.home, '.config/stint.json')
    mkdirSync(join(person.home, '.config'))
    writeFileSync(path, typeof settings === 'string' ? settings : JSON.stringify(settings), { mode })
    chmodSync(path, mode)
    return { person, path }
  }
  const none = { STINT_URL: '', STINT_API_KEY: '' }

  test('provides address, key and service without any variable', async () => {
    const stint = listen()
    const { person } = settle({ url: `${stint.url}/`, api_key: KEY })
    expect((await person.run('start p', { env: none })).exitCode).toBe(0)
    expect(stint.events[0]!.key).toBe(KEY)
    const renamed = settle({ url: stint.url, api_key: KEY, service: 'acme' })
    await renamed.person.run('start p', { env: none })
    expect(stint.events[1]!.key).toBeNull() // it is in x-acme-api-key
  })

  test('the environment takes precedence', async () => {
    const stint = listen()
    const { person } = settle({ url: deadUrl(), api_key: 'stint_other' })
    await person.run('start p', { env: { STINT_URL: stint.url, STINT_API_KEY: KEY } })
    expect(stint.events[0]!.key).toBe(KEY)
  })

  test('its key is sent only to its own address', async () => {
    const stint = listen()
    const { person } = settle({ url: deadUrl(), api_key: KEY })
    const { stderr } = await person.run('start p', { env: { STINT_URL: stint.url } })
    expect(stint.events).toEqual([])
    expect(stderr).toContain('no API key')
  })

  test.each([0o640, 0o604])('is refused with mode %o', async (mode) => {
    const { person, path } = settle({ url: 'http://127.0.0.1:1', api_key: KEY }, mode)
    const { exitCode, stderr } = await person.run('timings', { env: none })
    expect([exitCode, stderr]).toEqual([
      2,
      `stint: invalid settings file: other users have access to ${path}; run chmod 600 ${path}\n`,
    ])
  })

  test.each([
    ['{"api_key":', 'invalid JSON'],
    [[], 'expected an object'],
    [{ apikey: KEY }, 'expected an object with url, api_key and service only'],
    [{ api_key: 5 }, 'expected an object'],
    [{ api_key: `${KEY}\nx` }, 'expected one key and nothing else'],
    [{ url: 'nonsense' }, 'expected an address such as'],
  ])('refuses %j without printing its key', async (settings, rule) => {
    const { person, path } = settle(settings)
    const { exitCode, stderr } = await person.run('timings', { env: none })
    expect(exitCode).toBe(2)
    expect(stderr).toContain(path)
    expect(stderr).toContain(rule)
    expect(stderr).not.toContain(KEY)
  })

  test('readable by others does not prevent a command from running; its events are kept', async () => {
    const user = userOf('')
    const url = deadUrl()
    mkdirSync(join(user.home, '.config'))
    writeFileSync(join(user.home, '.config/stint.json'), JSON.stringify({ url, api_key: KEY }))
    chmodSync(join(user.home, '.config/stint.json'), 0o644) // whatever the umask is
    const { exitCode, stdout, stderr } = await user.run(['exec', '--', 'echo', 'ran'], { env: none })
    expect([exitCode, stdout.toString()]).toEqual([0, 'ran\n'])
    expect(stderr.toString()).toContain('run chmod 600')
    expect(user.pending().map(({ kind }) => kind)).toEqual(['start', 'end'])
    expect(user.pendingFiles().some((name) => readFileSync(join(user.stateDir, name), 'utf8').includes(KEY))).toBe(
      false,
    )
  })
})
