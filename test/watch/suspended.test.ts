// Watches of an account that the operator suspends, from outside: the real process and a real receiver.
import { describe, expect, test } from 'bun:test'
import { signUpAt } from '../support/caller.ts'
import { missing } from '../support/needs.ts'
import { startWatched } from './watch-stint.ts'

describe.skipIf(missing('chdb') !== undefined)('a suspended account', () => {
  test('gets no alert while others do, and gets those of what fell due meanwhile once it is resumed', async () => {
    await using watched = await startWatched(() => ({ SIGNUP: 'open' }))
    const { stint, got, gets, received } = watched
    const operator = watched.person.bySession
    const bob = await signUpAt(stint.url, 'bob@example.com')
    const { url } = (await operator.get('/api/channels')).json.channels[0]
    const hook = { name: 'hook', kind: 'webhook', url: url }
    const { channel } = (await bob.bySession.post('/api/channels', hook)).json
    const late = { late: { every: '1s', grace: '1s' } }
    const watch = { name: 'of bob', process: 'of bob', channels: [channel.id], ...late }
    await operator.post(`/api/operator/accounts/${bob.account}/suspend`, undefined)
    expect((await bob.bySession.post('/api/watches', watch)).json.code).toBe('account_suspended')
    await operator.post(`/api/operator/accounts/${bob.account}/resume`, undefined)
    expect((await bob.bySession.post('/api/watches', watch)).status).toBe(201)
    expect((await operator.post(`/api/operator/accounts/${bob.account}/suspend`, undefined)).status).toBe(200)
    const before = got('firing', 'of bob').length
    await watched.watch('of ada', late)
    await gets('firing', 'of ada')
    expect([before, got('firing', 'of bob').length]).toEqual([0, 0])
    await operator.post(`/api/operator/accounts/${bob.account}/resume`, undefined)
    await gets('firing', 'of bob')
    expect(received.at(-1)!.body.data.summary).toContain('or its start was refused: the account was closed to events')
  }, 120_000)
})
