// `stint exec --timeout` and `--ok`, and files of kept events that older versions read too.
import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openPendingEvents } from '../../../src/cli/exec/pending-events.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { until } from '../../support/until.ts'
import { createUser, recordEvents } from './exec-cast.ts'

const stint = recordEvents()
const user = createUser(stint.url)
afterAll(() => {
  stint.stop()
  user.remove()
})

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
    const { exitCode, signal, stderr } = await user.run([
      'exec',
      '--process',
      'slow',
      '--timeout',
      '1s',
      '--',
      'sh',
      '-c',
      script,
    ])
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
    const { exitCode } = await user.run([
      'exec',
      '--process',
      'stubborn',
      '--timeout',
      '1',
      '--',
      'sh',
      '-c',
      "trap '' TERM; while :; do sleep 0.1; done",
    ])
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

describe('kept events', () => {
  const open = () => {
    const dir = tempDir('pending')
    return { dir, pending: openPendingEvents(dir, () => crypto.randomUUID()) }
  }
  const URL_A = 'http://127.0.0.1:7070'
  const NOW_US = Date.now() * 1000

  test('of a failed end are read back whole, and by version 1.0 without the failure', () => {
    const { dir, pending } = open()
    const end = { kind: 'end' as const, body: { process: 'p', uid: 'u', failed: true } }
    const { file } = pending.add([end], URL_A, 1)
    expect(pending.read(file, NOW_US)).toEqual({ events: [{ ...end, url: URL_A }], unreadable: 0 })
    // Version 1.0 takes kind, url and a body of texts, and ignores the rest of the line.
    const { kind, url, body } = JSON.parse(readFileSync(join(dir, file), 'utf8'))
    expect({ kind, url, body }).toEqual({ kind: 'end', url: URL_A, body: { process: 'p', uid: 'u' } })
    expect(file).toMatch(/^pending-\d{17}-[0-9a-f]{8}-\d+-[0-9a-f-]+\.jsonl$/)
  })

  test('of metrics are in files that version 1.0 does not see, in order with the others', () => {
    const { pending } = open()
    const metrics = { kind: 'metrics' as const, body: { process: 'p', items: { rows: 3 } } }
    const names = [
      pending.add([{ kind: 'start', body: { process: 'p' } }], URL_A, 1).file,
      pending.add([metrics], URL_A, 2).file,
      pending.add([{ kind: 'end', body: { process: 'p' } }], URL_A, 3).file,
    ]
    expect(names[1]).not.toMatch(/^pending-\d/)
    expect(pending.list(URL_A)).toEqual(names)
    expect(pending.read(names[1]!, NOW_US)).toEqual({ events: [{ ...metrics, url: URL_A }], unreadable: 0 })
  })
})
