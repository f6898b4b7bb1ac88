// Watches from outside, and a process that is killed while notifications wait.
import { expect, test } from 'bun:test'
import { missing } from '../support/needs.ts'
import { until } from '../support/until.ts'
import { type Notified, startWatched } from './watch-stint.ts'

const idOf = ({ headers }: Notified) => headers.get('webhook-id')

test.skipIf(missing('chdb') !== undefined)(
  'a kill loses no notification and repeats none with another id',
  async () => {
    await using watched = await startWatched()
    const { stint } = watched
    watched.answer(503)
    for (const i of [1, 2, 3]) {
      await watched.watch(`killed ${i}`, { failed: {}, long: '5s' })
      await watched.send('start', { process: `killed ${i}` })
      await watched.send('end', { process: `killed ${i}`, failed: true })
    }
    await until('three alerts fire', async () => {
      const { alerts } = (await watched.person.bySession.call('GET', '/api/alerts?state=firing')).json
      return alerts.filter(({ process }: { process: string }) => process.startsWith('killed')).length === 3
    })
    await stint.kill()
    watched.answer(200)
    await stint.start()
    for (const i of [1, 2, 3]) await watched.gets('firing', `killed ${i}`)
    await stint.kill()
    await stint.start()
    await watched.send('start', { process: 'killed 1' })
    await watched.send('end', { process: 'killed 1' })
    await watched.gets('resolved', 'killed 1')
    for (const i of [1, 2, 3]) expect(new Set(watched.got('firing', `killed ${i}`).map(idOf)).size).toBe(1)
  },
)
