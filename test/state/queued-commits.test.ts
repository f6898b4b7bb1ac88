// Commits whose syncs leave the event loop free, by the system calls of a real process. By kill -9: queued-commits.slow.ts.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openAccountsFile } from '../../src/account/open-accounts.ts'
import { silentLog } from '../account/accounts-cast.ts'
import { countPerTurn } from '../support/count-turns.ts'
import { missing } from '../support/needs.ts'
import { tempDir } from '../support/temp-dir.ts'

const dir = tempDir('commits')

test('of a thousand transactions at once few run in one turn of the event loop, and all in order', async () => {
  const file = openAccountsFile(join(dir, 'many.sqlite'), silentLog)
  const done: number[] = []
  const most = await countPerTurn((note) =>
    Promise.all(
      Array.from({ length: 1000 }, async (_, i) => {
        await file.commit(() => note())
        done.push(i)
      }),
    ),
  )
  expect(done).toEqual(Array.from({ length: 1000 }, (_, i) => i))
  expect(most).toBeLessThanOrEqual(100) // two rounds, if one begins a turn and the next one ends it
  file.close()
})

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
