// The real process: a job whose starts a quota refuses is not reported late.
import { expect, test } from 'bun:test'
import { missing } from '../support/needs.ts'
import { until } from '../support/until.ts'
import { startWatched } from './watch-stint.ts'

test.skipIf(missing('chdb') !== undefined)('nothing is reported late because a quota refused its start', async () => {
  await using watched = await startWatched(() => ({ QUOTA_BYTES: '5000' }))
  const { bySession, byKey } = watched.person
  const start = { process: 'job', meta: 'm'.repeat(400) }
  for (let status = 201; status === 201; ) status = (await byKey.post('/v1/start', start)).status
  const { id } = await watched.watch('job', { late: { every: '2s', grace: '1s' } })
  expect((await byKey.post('/v1/start', start)).json.code).toBe('quota_spent')
  await until('what is due waits', async () => {
    const { unjudged } = (await bySession.call('GET', '/api/alerts')).json
    return unjudged.some(
      (it: { watch: { id: string }; reason: string }) =>
        it.watch.id === id && it.reason.startsWith('The account was closed to events'),
    )
  })
  expect((await bySession.call('GET', '/api/alerts')).json.alerts).toEqual([])
})
