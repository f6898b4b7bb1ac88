// `stint exec` and the real process: overlapping jobs, one killed, Stint away in between; from the sources and as the one compiled file.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Timing } from '../../src/wire/timings.ts'
import { createUser, MAIN } from '../cli/exec/exec-cast.ts'
import { missing } from '../support/needs.ts'
import { type Caller, createStintProcess, type StintProcess } from '../support/process.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const ROOT = join(import.meta.dir, '../..')

describe.skipIf(missing('chdb') !== undefined)('with the real process', () => {
  let stint: StintProcess
  let caller: Caller
  let user: ReturnType<typeof createUser>
  const dir = tempDir('compiled')
  const compiled = join(dir, 'stint')

  beforeAll(async () => {
    stint = createStintProcess()
    await stint.start()
    caller = await stint.signUp('ada@example.com')
    user = createUser(stint.url)
    user.env.STINT_API_KEY = caller.secret
  })
  afterAll(async () => {
    await stint?.close()
    user?.remove()
    rmSync(dir, { recursive: true, force: true })
  })

  /** The rows of an answer; none while the store is not ready to answer. */
  const ask = async <T>(path: string, list: string): Promise<T[]> => {
    const response = await caller.get(path)
    return response.ok ? ((await response.json()) as Record<string, T[]>)[list]! : []
  }
  const timings = (process: string) => ask<Timing>(`/api/timings?process=${process}`, 'timings')
  const exceptions = async (process: string) =>
    (await ask<{ exception: string }>(`/api/exceptions?process=${process}`, 'exceptions')).map(
      ({ exception }) => exception,
    )

  /** Waits for so many timings of these states in the store. */
  const untilStates = (process: string, expected: string) => {
    const states = async () => (await timings(process)).map(({ state }) => state).toSorted()
    return until(`${process}: ${expected}`, async () => (await states()).join() === expected, 60_000, 50)
  }
  const untilExceptions = (process: string, count: number) =>
    until(`${count} exceptions of ${process}`, async () => (await exceptions(process)).length === count, 60_000, 50)

  test('what a command said is kept with --output, and shown with its run', async () => {
    const script = 'echo 7 pages; echo 2 without a title >&2; exit 3'
    const run = async (...args: string[]) => {
      const { exitCode, stdout, stderr } = await user.run(args)
      return { exitCode, stdout: String(stdout), stderr: String(stderr) }
    }
    const kept = await run('exec', '--process', 'report', '--output', '--', 'sh', '-c', script)
    expect(kept).toEqual({ exitCode: 3, stdout: '7 pages\n', stderr: '2 without a title\n' })
    await run('exec', '--process', 'quiet', '--', 'sh', '-c', 'echo secret')
    const said = () => ask<{ output: string; process: string }>('/api/outputs', 'outputs')
    await until('it is stored', async () => (await said()).length > 0, 60_000, 50)
    await untilStates('quiet', 'completed')
    await untilStates('report', 'failed')
    await untilExceptions('report', 1)
    expect((await said()).map(({ process }) => process)).toEqual(['report'])

    const shown = await run('timings', 'show', 'report')
    expect(shown.stdout).toMatch(/^report {2}failed\nuid .*\nstarted .*\nended .*\nduration /)
    expect(shown.stdout).toMatch(/\nException\n {2}sh: exited with code 3\n {2}2 without a title\n/)
    expect(shown.stdout).toMatch(/\nOutput\n( {2}(7 pages|2 without a title)\n){2}$/)
    const { timing, outputs } = JSON.parse((await run('timings', 'show', 'report', '--json')).stdout)
    expect([timing.state, outputs.length]).toEqual(['failed', 1])
    expect(await run('timings', 'show', 'nobody')).toMatchObject({
      exitCode: 1,
      stderr: 'stint: no run of nobody in the last 7 days\n',
    })
  })

  test('of three concurrent jobs, one killed and one still running, two have durations and one an exception', async () => {
    const start = (seconds: string) =>
      user.start(['exec', '--process', 'trio', '--', 'sh', '-c', `echo begun >&2; exec sleep ${seconds}`])
    const [short, killed, long] = [start('0.5'), start('60'), start('61')]
    await until('all three have begun', async () => (await timings('trio')).length === 3)
    killed.kill('SIGTERM')
    await killed.exited
    expect(killed.signalCode).toBe('SIGTERM')
    expect(await short.exited).toBe(0)

    await untilStates('trio', 'completed,failed,running')
    const found = await timings('trio')
    expect(new Set(found.map(({ uid }) => uid)).size).toBe(3)
    const lengths = found.flatMap(({ duration_ms }) => duration_ms ?? [])
    expect(lengths.every((ms) => ms > 0 && ms < 30_000)).toBe(true)
    expect(Math.max(...lengths)).toBeGreaterThanOrEqual(500) // the one that slept; the other was killed as soon as it was seen
    await untilExceptions('trio', 1)
    expect(await exceptions('trio')).toEqual(['sh: was ended by SIGTERM\nbegun'])

    const counted = await timings('trio')
    expect(counted.filter(({ exceptions }) => exceptions !== 0).map(({ state }) => state)).toEqual(['failed'])
    for (const { uid, state } of counted) {
      const { stdout } = await user.run(['exceptions', '--process', 'trio', '--uid', uid!, '--json'])
      expect([state, JSON.parse(stdout.toString()).exceptions.length]).toEqual([state, state === 'failed' ? 1 : 0])
    }

    const shown = await user.run(['timings', '--process', 'trio'])
    expect(
      shown.stdout
        .toString()
        .match(/ completed | failed | running /g)!
        .toSorted(),
    ).toEqual([' completed ', ' failed ', ' running '])
    expect(
      (await user.run(['running', '--process', 'trio', '--csv'])).stdout.toString().trim().split('\r\n'),
    ).toHaveLength(2)
    long.kill('SIGKILL')
    await long.exited
  })

  test('jobs during an outage arrive once afterwards, although they were sent twice', async () => {
    await stint.terminate()
    for (let i = 0; i < 3; i++) await user.run(['exec', '--process', 'away', '--', 'sh', '-c', 'exit 2'])
    expect(user.pending()).toHaveLength(9)
    await stint.start()
    const copy = join(dir, 'kept')
    cpSync(user.stateDir, copy, { recursive: true })
    for (const _ of ['once', 'twice']) {
      cpSync(copy, user.stateDir, { recursive: true })
      const { stdout } = await user.run(['flush'])
      expect(stdout.toString()).toBe('9 sent, 0 refused, 0 left\n')
    }
    await untilStates('away', 'failed,failed,failed')
    await untilExceptions('away', 3)
  })

  describe('as one compiled file', () => {
    beforeAll(async () => {
      const scripts = (await Bun.file(join(ROOT, 'package.json')).json()).scripts as Record<string, string>
      const build = scripts['build:cli']!.replace('dist/stint', compiled)
        .replace(/^.* && bun /, '')
        .split(' ')
      const child = Bun.spawn([process.execPath, ...build], { cwd: ROOT, stdout: 'pipe', stderr: 'pipe' })
      const [said] = await Promise.all([new Response(child.stderr).text(), child.exited])
      if (child.exitCode !== 0) throw new Error(said)
    })

    const run = async (args: string[], env: Record<string, string> = {}) => {
      const child = Bun.spawn([compiled, ...args], {
        cwd: user.home,
        env: { ...user.env, ...env },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
      return { exitCode: await child.exited, stdout, stderr }
    }

    test('it runs jobs', async () => {
      const script = 'echo out; echo err >&2; exit 6'
      const { exitCode, stdout, stderr } = await run(['exec', '--process', 'compiled', '--', 'sh', '-c', script])
      expect([exitCode, stdout, stderr]).toEqual([6, 'out\n', 'err\n'])
      await untilStates('compiled', 'failed')
      expect((await timings('compiled'))[0]!.duration_ms).toBeGreaterThan(0)
      await untilExceptions('compiled', 1)
      expect(await exceptions('compiled')).toEqual(['sh: exited with code 6\nerr'])
      const asked = await run(['timings', '--process', 'compiled', '--json'])
      expect(JSON.parse(asked.stdout).timings).toHaveLength(1)
    })

    /** Another user may run the file, and all that it can write is in its own temporary directory. */
    test.skipIf(process.getuid!() !== 0).each([
      ['a user without a home', ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'], '/nonexistent'],
      ['a user whose home is /', ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'], '/'],
      ['process 1 of a container', ['unshare', '--pid', '--fork', '--mount-proc'], '/nonexistent'],
    ])('a failed run of %s is stored, and nothing is printed', async (name, wrapper, HOME) => {
      const open = join(tmpdir(), `stint-open-${crypto.randomUUID()}`)
      mkdirSync(open, { mode: 0o755 })
      try {
        cpSync(compiled, join(open, 'stint'))
        const script = '(sleep 0.05 &) ; sleep 0.2; ps -eo ppid,stat | grep -c "^ *$PPID Z"; exit 6'
        const words = [...wrapper, join(open, 'stint'), 'exec', '--process', name, '--', 'sh', '-c', script]
        const child = Bun.spawn(words, {
          cwd: '/',
          env: { ...user.env, HOME, TMPDIR: open },
          stdin: 'ignore',
          stdout: 'pipe',
          stderr: 'pipe',
        })
        const [stdout, stderr] = await Promise.all([
          new Response(child.stdout).text(),
          new Response(child.stderr).text(),
        ])
        expect([await child.exited, stdout, stderr]).toEqual([6, '0\n', ''])
        await untilStates(name, 'failed')
        await untilExceptions(name, 1)
      } finally {
        rmSync(open, { recursive: true, force: true })
      }
    })

    test('it ignores .env files in the working directory', async () => {
      await Bun.write(join(user.home, '.env'), 'STINT_URL=http://127.0.0.1:1\nEVIL=1\n')
      const { stdout, stderr } = await run(['exec', '--process', 'compiled', '--', 'env'])
      expect(stdout).not.toContain('EVIL')
      expect(stderr).toBe('')
    })
  })

  test('the bin of package.json is executable from the sources', async () => {
    const { bin } = (await Bun.file(join(ROOT, 'package.json')).json()) as { bin: { stint: string } }
    expect(join(ROOT, bin.stint)).toBe(MAIN)
    const child = Bun.spawn([MAIN, '--version'], { env: user.env, stdout: 'pipe' })
    expect(await new Response(child.stdout).text()).toMatch(/^\d+\.\d+\.\d+( \([0-9a-f]{12}\))?\n$/)
  })
})
