// `stint exec` and the real process: overlapping jobs, one killed, Stint away in between. As the one compiled file: cli-exec-compiled.slow.ts.
import { describe, expect, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { createPerson } from '../cli/cli-cast.ts'
import { MAIN } from '../cli/exec/exec-cast.ts'
import { missing } from '../support/needs.ts'
import { ROOT } from '../support/readme.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'
import { useExec } from './exec-cast.ts'

describe.skipIf(missing('chdb') !== undefined)('with the real process', () => {
  const { cast, ask, timings, exceptions, untilStates, untilExceptions } = useExec()

  test('what a command said is kept with --output, and shown with its run', async () => {
    const script = 'echo 7 pages; echo 2 without a title >&2; exit 3'
    const run = async (...args: string[]) => {
      const { exitCode, stdout, stderr } = await cast.user.run(args)
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

    const env = { STINT_API_KEY: cast.caller.secret }
    const show = (line: string) => createPerson(cast.stint.url).run(`timings show ${line}`, { env })
    const shown = await show('report')
    expect(shown.stdout).toMatch(/^report {2}failed\nuid .*\nstarted .*\nended .*\nduration /)
    expect(shown.stdout).toMatch(/\nException\n {2}sh: exited with code 3\n {2}7 pages\n {2}2 without a title\n/)
    expect(shown.stdout).toMatch(/\nOutput\n( {2}(7 pages|2 without a title)\n){2}$/)
    const { timing, outputs } = JSON.parse((await show('report --json')).stdout)
    expect([timing.state, outputs.length]).toEqual(['failed', 1])
    expect(await show('nobody')).toMatchObject({
      exitCode: 1,
      stderr: 'stint: no run of nobody in the last 7 days\n',
    })
  })

  test('of three concurrent jobs, one killed and one still running, two have durations and one an exception', async () => {
    const start = (seconds: string) =>
      cast.user.start(['exec', '--process', 'trio', '--', 'sh', '-c', `echo begun >&2; exec sleep ${seconds}`])
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

    const failed = (await timings('trio')).filter(({ exceptions }) => exceptions !== 0)
    expect(failed.map(({ state, exceptions }) => [state, exceptions])).toEqual([['failed', 1]])
    long.kill('SIGKILL')
    await long.exited
  })

  test('jobs during an outage arrive once afterwards, although they were sent twice', async () => {
    await cast.stint.terminate()
    const fail = () => cast.user.run(['exec', '--process', 'away', '--', 'sh', '-c', 'exit 2'])
    await Promise.all([fail(), fail(), fail()])
    expect(cast.user.pending()).toHaveLength(9)
    await cast.stint.start()
    const copy = tempDir('kept')
    cpSync(cast.user.stateDir, copy, { recursive: true })
    for (const _ of ['once', 'twice']) {
      cpSync(copy, cast.user.stateDir, { recursive: true })
      const { stdout } = await cast.user.run(['flush'])
      expect(stdout.toString()).toBe('9 sent, 0 refused, 0 left\n')
    }
    await untilStates('away', 'failed,failed,failed')
    await untilExceptions('away', 3)
  })

  test('the bin of package.json is executable from the sources', async () => {
    const { bin } = (await Bun.file(join(ROOT, 'package.json')).json()) as { bin: { stint: string } }
    expect(join(ROOT, bin.stint)).toBe(MAIN)
    const child = Bun.spawn([MAIN, '--version'], { env: cast.user.env, stdout: 'pipe' })
    expect(await new Response(child.stdout).text()).toMatch(/^\d+\.\d+\.\d+( \([0-9a-f]{12}\))?\n$/)
  })
})
