// Commits whose syncs leave the event loop free, by the system calls of a real process and by kill -9.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ApiCaller, createCaller, signUpAt } from '../support/caller.ts'
import { missing } from '../support/needs.ts'
import { createStintProcess } from '../support/process.ts'
import { tempDir } from '../support/temp-dir.ts'

const dir = tempDir('commits')

const SCRIPT = `
  import { writeSync } from 'node:fs'
  import { openAccountsFile } from '${join(import.meta.dir, '../../src/account/open-accounts.ts')}'
  const file = openAccountsFile('${dir}/accounts.sqlite', { warn: console.error })
  const insert = file.db.query('INSERT INTO removal VALUES (?, 1)')
  writeSync(1, 'begin')
  for (let round = 0; round < 3; round++)
    await Promise.all([1, 2, 3].map((n) => file.commit(() => insert.run('acc_' + round + n)).then(() => writeSync(1, 'durable'))))
  writeSync(1, 'end')
  file.close()`

test.skipIf(missing('strace') !== undefined)(
  'a commit is synced before it is answered, by no thread but the pool’s',
  async () => {
    const trace = join(dir, 'trace')
    const filter = 'trace=write,pwrite64,fdatasync,fsync,ftruncate'
    const child = Bun.spawn(['strace', '-f', '-y', '-s', '16', '-e', filter, '-o', trace, 'bun', '-e', SCRIPT], {
      stdout: 'ignore',
      stderr: 'inherit',
    })
    expect(await child.exited).toBe(0)
    const lines = readFileSync(trace, 'utf8').split('\n')
    const from = lines.findIndex((line) => line.includes('"begin"'))
    const eventLoop = lines[from]!.split(' ')[0]
    const steps: string[] = []
    for (const line of lines.slice(
      from + 1,
      lines.findIndex((line) => line.includes('"end"')),
    )) {
      const [, thread, name, what] =
        /^(\d+) +(\w+)\(\d+<[^>]*?(-wal|accounts\.sqlite|)(?: \(deleted\))?>/.exec(line) ?? []
      if (name === undefined) continue
      if (name.endsWith('sync')) expect(thread).not.toBe(eventLoop!)
      const step = line.includes('"durable"') ? 'answer' : what === '' ? undefined : `${name} ${what}`
      if (step !== undefined && steps.at(-1) !== step) steps.push(step)
    }
    const ROUND = [
      'pwrite64 -wal',
      'fdatasync -wal',
      'pwrite64 accounts.sqlite',
      'ftruncate accounts.sqlite', // to the size that it has
      'fdatasync accounts.sqlite',
      'ftruncate -wal',
      'answer',
    ]
    expect(steps).toEqual([...ROUND, ...ROUND, ...ROUND])
  },
)

test('a key that was answered works after kill -9, and a revoked one does not', async () => {
  await using stint = createStintProcess({ SIGNUP: 'open', CLICKHOUSE_URL: 'http://127.0.0.1:9' })
  await stint.start()
  const { bySession, byKey } = await signUpAt(stint.url)
  const create = async (name: string) => {
    const made = await bySession.post('/api/keys', { name, scopes: ['write'] })
    expect(made.status).toBe(201)
    return made.json.key as { id: string; secret: string }
  }
  const keys = await Promise.all(Array.from({ length: 20 }, (_, i) => create(`key ${i}`)))
  const revoked = await Promise.all(keys.slice(0, 5).map(({ id }) => bySession.delete(`/api/keys/${id}`)))
  expect(revoked.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204])
  await stint.kill()
  await stint.start()
  const statusOf = async (caller: ApiCaller) => (await caller.post('/v1/start', { process: 'p' })).status
  const statuses = await Promise.all(keys.map(({ secret }) => statusOf(createCaller(stint.url, { key: secret }))))
  expect(statuses).toEqual(keys.map((_, i) => (i < 5 ? 401 : 201)))
  expect(await statusOf(byKey)).toBe(201)
})
