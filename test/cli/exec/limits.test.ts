// `stint exec --timeout` and `--ok`.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../support/until.ts'
import { useJobs } from './exec-cast.ts'

const { stint, user } = useJobs()

const eventsOf = async (process: string, count: number) => {
  const own = () => stint.events.filter(({ body }) => body.process === process)
  await until(`${count} events of ${process}`, () => own().length >= count)
  return Object.fromEntries(own().map(({ path, body }) => [path.slice(4), body]))
}
const isRunning = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe('--timeout', () => {
  test('stops the command and its children and reports a failed run with an exception', async () => {
    const pidFile = join(user.home, 'pid')
    const script = `sleep 300 & echo $! > ${pidFile}; echo begun >&2; wait`
    const flags = ['--process', 'slow', '--timeout', '1s']
    const { exitCode, signal, stderr } = await user.run(['exec', ...flags, '--', 'sh', '-c', script])
    expect([exitCode, signal]).toEqual([124, null])
    expect(stderr.toString()).toBe('begun\nstint: sh: timed out after 1 s\n')
    const { start, end, exception } = await eventsOf('slow', 3)
    expect(end).toMatchObject({ uid: start!.uid!, failed: true as never })
    expect(exception).toMatchObject({
      uid: start!.uid!,
      exception: 'sh: timed out after 1 s and was ended by SIGTERM\nbegun',
    })
    const child = Number(readFileSync(pidFile, 'utf8'))
    await until('the child has ended', () => !isRunning(child))
  })

  test('a command that ends in time is not affected', async () => {
    expect(await user.run(['exec', '--process', 'quick', '--timeout=1h', '--', 'sh', '-c', 'exit 3'])).toMatchObject({
      exitCode: 3,
    })
  })

  test('SIGKILL follows when SIGTERM is ignored', async () => {
    const flags = ['--process', 'stubborn', '--timeout', '1']
    const script = "trap '' TERM; while :; do sleep 0.1; done"
    const { exitCode } = await user.run(['exec', ...flags, '--', 'sh', '-c', script])
    expect(exitCode).toBe(124)
    const { exception } = await eventsOf('stubborn', 3)
    expect(exception!.exception).toStartWith('sh: timed out after 1 s and was ended by SIGKILL')
  })

  test.each(['0', '25d', 'soon', '-5s', ''])('%j is a usage error', async (span) => {
    const { exitCode, stderr } = await user.run(['exec', '--timeout', span, '--', 'true'])
    expect(exitCode).toBe(2)
    expect(stderr.toString()).toContain('Expected a span such as')
  })
})

describe('--ok', () => {
  test('an accepted exit code is passed through and the run is not failed', async () => {
    expect(
      (await user.run(['exec', '--process', 'accepted', '--ok', '0,3', '--', 'sh', '-c', 'exit 3'])).exitCode,
    ).toBe(3)
    const { end, exception } = await eventsOf('accepted', 2)
    expect(end).not.toHaveProperty('failed')
    expect(exception).toBeUndefined()
  })

  test.each(['256', 'a', '', '1,', '-1'])('%j is a usage error', async (codes) => {
    const { exitCode, stderr } = await user.run(['exec', '--ok', codes, '--', 'true'])
    expect(exitCode).toBe(2)
    expect(stderr.toString()).toContain('Expected exit codes')
  })
})
