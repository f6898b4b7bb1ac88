// What is sent while the operator has suspended the account is kept by each client, and arrives once it is resumed.
import { describe, expect, test } from 'bun:test'
import { createStint } from '../../src/client/stint.ts'
import { createUser } from '../cli/exec/exec-cast.ts'
import { createCaller, PASSWORD } from '../support/caller.ts'
import { findPython, missing } from '../support/needs.ts'
import { startRealStint } from '../support/real-stint.ts'
import { inMemoryDir } from '../support/temp-dir.ts'
import { pythonEnv } from './python/run-unittest.ts'
import { createShellUser, KINDS } from './sh-cast.ts'

const ADDRESS = '192.0.2.1'

/** Bob's account is suspended. */
async function openSuspended() {
  const stint = await startRealStint({ signup: 'open' })
  const { accounts } = stint.app.rooms
  const { account, key } = await accounts.create({ email: 'bob@example.com', password: PASSWORD, address: ADDRESS })
  await accounts.operator.suspend(account.id)
  const byKey = createCaller(stint.url, { key: key.secret })
  return {
    url: stint.url,
    key: key.secret,
    resume: () => accounts.operator.resume(account.id),
    /** Where a run of this name stands. */
    async states(process: string): Promise<string[]> {
      await stint.events()
      return (await byKey.get(`/api/timings?process=${process}`)).json.timings.map(
        ({ state }: { state: string }) => state,
      )
    },
    [Symbol.asyncDispose]: stint.stop,
  }
}

describe('after a resumption', () => {
  test.each(['with', 'without'] as const)('the TypeScript client sends what it kept, %s a backlog', async (how) => {
    await using stint = await openSuspended()
    const drops: string[] = []
    const client = createStint({
      ...{ url: stint.url, key: stint.key, onDrop: (_, reason) => void drops.push(reason) },
      ...(how === 'with' && { backlog: inMemoryDir() }),
    })
    client.start('job', { uid: '1' })
    client.end('job', { uid: '1' })
    expect(await client.flush(300)).toBe(false)
    expect(drops).toEqual([])
    await stint.resume()
    expect(await client.flush(20_000)).toBe(true)
    expect(await stint.states('job')).toEqual(['completed'])
  })

  test.skipIf(missing('python') !== undefined)(
    'the Python client sends what it kept',
    async () => {
      await using stint = await openSuspended()
      const script = [
        ...['import stint', 'drops = []'],
        `client = stint.Stint(${JSON.stringify(stint.url)}, ${JSON.stringify(stint.key)}, on_drop=lambda *drop: drops.append(drop))`,
        ...[
          "client.start('job', uid='1')",
          "client.end('job', uid='1')",
          'print(client.flush(0.3), drops, flush=True)',
        ],
        ...['input()', 'print(client.flush(20), drops)'],
      ].join('\n')
      const child = Bun.spawn([findPython()!, '-c', script], { env: pythonEnv(), stdin: 'pipe', stdout: 'pipe' })
      const reader = child.stdout.getReader()
      const read = async () => Buffer.from((await reader.read()).value!).toString()
      expect(await read()).toBe('False []\n')
      await stint.resume()
      child.stdin.write('\n')
      child.stdin.end()
      expect(await read()).toBe('True []\n')
      expect(await child.exited).toBe(0)
      expect(await stint.states('job')).toEqual(['completed'])
    },
    60_000,
  )

  test('stint exec and stint flush send what was kept', async () => {
    await using stint = await openSuspended()
    const user = createUser(stint.url, inMemoryDir(), stint.key)
    const { exitCode, stderr } = await user.run(['exec', '--process', 'job', '--', 'true'])
    expect([exitCode, stderr.toString()]).toEqual([0, expect.stringContaining('suspended the account')])
    await stint.resume()
    expect((await user.run(['flush'])).stdout.toString()).toBe('2 sent, 0 refused, 0 left\n')
    expect(await stint.states('job')).toEqual(['completed'])
  }, 60_000)

  test('stint.sh sends what was kept', async () => {
    await using stint = await openSuspended()
    const user = createShellUser(stint.url, KINDS.dash!, stint.key)
    const kept = await user.run(['exec', '--process', 'job', '--', 'true'])
    expect([kept.exitCode, kept.stderr.toString()]).toEqual([0, expect.stringContaining('kept, sent later')])
    await stint.resume()
    await user.run(['flush'])
    expect(await stint.states('job')).toEqual(['completed'])
  }, 60_000)
})
