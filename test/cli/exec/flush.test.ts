// `stint flush` against a real Stint: what was kept arrives, and what was refused is sent once more.
import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startRealStint } from '../../support/real-stint.ts'
import { inMemoryDir } from '../../support/temp-dir.ts'
import { createUser } from './exec-cast.ts'

const DAY_MS = 86_400_000

async function open() {
  const stint = await startRealStint()
  const user = createUser(stint.url, inMemoryDir(), stint.key)
  const name = createHash('sha256').update(`${stint.url}\n${stint.key}`).digest('hex').slice(0, 16)
  const refused = join(user.stateDir, name, 'refused')
  mkdirSync(refused, { recursive: true })
  const end = (uid: string, daysAgo: number) =>
    JSON.stringify({ kind: 'end', process: 'retried', uid, failed: true, at: timeAgo(daysAgo) })
  const place = (file: string, ...events: string[]) => writeFileSync(join(refused, file), `[${events.join('\n,')}\n]\n`)
  async function flush() {
    const { exitCode, stdout, stderr } = await user.run(['flush'])
    return [exitCode, stdout.toString(), stderr.toString()]
  }
  return { stint, user, refused, end, place, flush }
}

const timeAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()

test('each file of refused/ is sent once more; what is refused again is in a file again-… and is never sent', async () => {
  const { stint, refused, end, place, flush } = await open()
  await using _ = stint
  place('1.json', end('one', 3))
  place('2.json', end('two', 2), end('old', 8))
  place('3.json', 'torn')
  place('again-4.json', end('four', 1))
  const why = `stint: refused again, and left in refused/: ${stint.url} answered 422: The event is invalid; --at is too long ago: older than MAX_AGE (7d)\n`
  expect(await flush()).toEqual([0, '2 sent, 0 refused, 0 left\n', why])
  const seen = await stint.runs('retried')
  expect(seen.map(({ uid, state }) => [uid, state])).toEqual([
    ['one', 'failed'],
    ['two', 'failed'],
  ])
  const left = readdirSync(refused).sort()
  expect(left).toEqual([expect.stringMatching(/^again-\d{17}-\w+\.json$/), 'again-3.json', 'again-4.json'])
  expect(await flush()).toEqual([0, '0 sent, 0 refused, 0 left\n', ''])
  expect(readdirSync(refused).sort()).toEqual(left)
})

test('while Stint is away the files of refused/ stay as they are', async () => {
  const { stint, user, refused, end, place } = await open()
  place('1.json', end('one', 3))
  await user.run(['start', 'retried'])
  await stint.stop()
  await user.run(['start', 'retried'])
  const { exitCode, stderr } = await user.run(['flush'])
  expect(exitCode).toBe(1)
  expect(stderr.toString()).toStartWith('stint: 0 sent, 0 refused, 1 left: cannot reach Stint at')
  expect(readdirSync(refused)).toEqual(['1.json'])
})

test('what is refused now is not sent once more by the same flush', async () => {
  const { stint, user, refused, flush } = await open()
  await using _ = stint
  writeFileSync(join(refused, '../1.json'), '[{"kind":"start","process":"retried","uid":"A B"}\n]\n')
  const [exitCode, stdout] = await flush()
  expect([exitCode, stdout]).toEqual([0, '0 sent, 1 refused, 0 left\n'])
  expect(readdirSync(refused)).toEqual([expect.stringMatching(/^\d{17}-\w+\.json$/)])
  user.remove()
})
