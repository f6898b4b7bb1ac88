// With its store away an account fills its share of the spool, and only its own; the share outlives a restart and ends with the account.
import { expect, test } from 'bun:test'
import { PASSWORD, signInAt } from '../../support/caller.ts'
import { createStintProcess } from '../../support/process.ts'
import { until } from '../../support/until.ts'

test('an account fills its share alone, also over a restart, and its deletion gives the room back', async () => {
  await using stint = createStintProcess({
    SIGNUP: 'open',
    CLICKHOUSE_URL: 'http://127.0.0.1:9',
    SPOOL_MAX_BYTES: '4MiB',
  })
  await stint.start()
  // The first account is the operator, which cannot leave the others without one.
  const ada = await stint.signUp('ada@example.com')
  const mallory = await stint.signUp('mallory@example.com')
  const send = async (who: typeof ada) => {
    const answer = await who.post('/v1/exception', { process: 'p', exception: 'x'.repeat(15_000) })
    return answer.status === 201 ? 'accepted' : ((await answer.json()) as { detail: string }).detail
  }
  const SHARE_FULL = "This account's share of the spool is full; its store is behind."
  const fill = async (who: typeof ada) => {
    for (let n = 0; ; n++) if ((await send(who)) !== 'accepted') return n
  }

  expect(await fill(mallory)).toBeGreaterThan(60) // of 15 kB in 1 MiB
  expect([await send(mallory), await send(ada)]).toEqual([SHARE_FULL, 'accepted'])

  await stint.kill()
  await stint.start()
  await until('the backlog is counted', async () => (await send(mallory)) === SHARE_FULL)
  expect(await send(ada)).toBe('accepted')

  const session = await signInAt(stint.url, 'mallory@example.com')
  const deleted = await session.call('DELETE', '/api/account', { id: mallory.account, password: PASSWORD })
  expect(deleted.status).toBe(204)

  const bob = await stint.signUp('bob@example.com')
  expect(await fill(bob)).toBeGreaterThan(60)
  expect(await send(ada)).toBe('accepted')

  await stint.kill()
  await stint.start()
  await until('the backlog is counted', async () => (await send(bob)) === SHARE_FULL)
  expect(await send(ada)).toBe('accepted')
})
