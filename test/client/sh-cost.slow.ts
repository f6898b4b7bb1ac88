// The cost of a run under stint.sh: how many processes it takes, its command, two requests and waiting aside. Processor time is no figure on a
// busy machine; each process costs about a millisecond of it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { missing } from '../support/needs.ts'
import { type RealStint, startRealStint } from '../support/real-stint.ts'
import { tempDir } from '../support/temp-dir.ts'
import { createShellUser, KINDS } from './sh-cast.ts'

const PROCESSES = 25
const OUTPUT_BYTES = 20_000_000

describe.skipIf(missing('shells') !== undefined || Bun.which('strace') === null)('a run takes few processes', () => {
  let stint: RealStint
  beforeAll(async () => {
    stint = await startRealStint()
  })
  afterAll(() => stint.stop())

  test.each(['dash', 'bash', 'busybox sh'])(
    'in %s, and where Perl is one of them reads each byte and writes it',
    async (name) => {
      const user = createShellUser(stint.url, KINDS[name]!, stint.key)
      const trace = join(tempDir('strace'), 'trace')
      const words = ['exec', '--process', 'large', '--output', '--', 'head', '-c', String(OUTPUT_BYTES), '/dev/zero']
      try {
        const child = Bun.spawn(
          ['strace', '-f', '-q', '-o', trace, '-e', 'trace=read,write', ...user.words, ...words],
          {
            ...{ env: user.shellEnv, stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' },
          },
        )
        expect((await new Response(child.stdout).bytes()).length).toBe(OUTPUT_BYTES)
        const results = readFileSync(trace, 'utf8').matchAll(/(?:read|write)(?:\(| resumed).* = (\d+)$/gm)
        const moved = results.reduce((sum, [, bytes]) => sum + Number(bytes), 0)
        // two are those of the command, one more comes where it often pauses for 10 ms; tee and dd make it 7
        expect(moved / OUTPUT_BYTES).toBeWithin(4, 6)
      } finally {
        user.remove()
      }
    },
  )

  test.each(['dash', 'bash', 'busybox sh'])('in %s', async (name) => {
    const user = createShellUser(stint.url, KINDS[name]!, stint.key)
    const run = () => user.run(['exec', '--', 'sh', '-c', 'exit 0'])
    try {
      expect((await run()).exitCode).toBe(0) // makes the directory
      const trace = join(tempDir('strace'), 'trace')
      const child = Bun.spawn(
        ['strace', '-f', '-q', '-o', trace, '-e', 'trace=execve', ...user.words, 'exec', '--', 'sh', '-c', 'exit 0'],
        { env: user.shellEnv, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
      )
      expect(await child.exited).toBe(0)
      const lines = readFileSync(trace, 'utf8').split('\n')
      const pidOf = (line: string) => line.split(' ', 1)[0]!
      const waiting = new Set(lines.filter((line) => line.includes('/sleep"')).map(pidOf))
      const exited = lines.filter((line) => / \+\+\+ (?:exited|killed)/.test(line)).map(pidOf)
      const all = new Set(exited.filter((pid) => !waiting.has(pid)))
      expect(all.size).toBeGreaterThan(10)
      expect(all.size).toBeLessThanOrEqual(PROCESSES)
    } finally {
      user.remove()
    }
  })
})
