// Two nodes with their watches in PostgreSQL: the one that judges is killed around due moments.
import { describe, expect, test } from 'bun:test'
import { engineMissing } from '../support/engine.ts'
import { missing } from '../support/needs.ts'
import { callerOf } from '../support/process.ts'
import { useWatchingNodes } from './watching-nodes.ts'

describe.skipIf((engineMissing ?? missing('postgresql')) !== undefined)('two nodes with watches', () => {
  const { cast, received, watch, got, gets, isOnDuty } = useWatchingNodes()

  test('a judging node that is killed around due moments and starts again hides no missed start and invents none', async () => {
    const { a, b, ada } = cast
    const OFFSETS_S = [-8, -5, -2, 0, 2, 5, 8]
    const LIMIT = { late: { every: '15s', grace: '10s' } }
    const healthy = ['well 1', 'well 2', 'well 3', 'well 4']
    const dead = OFFSETS_S.map((offset) => `dead ${offset}`)
    await watch(a, 'fires', { late: { every: '2s', grace: '1s' } })
    await gets('alert.firing', 'fires')
    for (const name of [...dead, ...healthy]) await watch(a, name, LIMIT)
    const onDuty = (await isOnDuty(a)) ? a : b
    const other = onDuty === a ? b : a
    const killMs = Date.now() + 24_000
    let isOver = false
    // by its own time, so that a retry after a refused connection is the same event
    const start = async (name: string) => {
      const body = { process: name, at: new Date().toISOString() }
      for (;;) {
        const node = [other, onDuty][Math.floor(Math.random() * 2)]!
        const sent = await callerOf(node.url, ada)
          .post('/v1/start', body)
          .catch(() => undefined)
        if (sent?.status === 201) return
        await Bun.sleep(200)
      }
    }
    const beating = healthy.map(async (name, i) => {
      await Bun.sleep(i * 2_000)
      for (; !isOver; await Bun.sleep(8_000)) await start(name)
    })
    // the last start of each is due around the kill
    const ending = OFFSETS_S.map(async (offset, i) => {
      await start(dead[i]!)
      await Bun.sleep(killMs + offset * 1000 - 15_000 - Date.now())
      await start(dead[i]!)
    })
    await Promise.all(ending)
    await Bun.sleep(killMs - Date.now())
    await onDuty.kill()
    await Bun.sleep(3_000)
    await onDuty.start()
    for (const name of dead) await gets('alert.firing', name)
    await Bun.sleep(8_000) // anything false would have come
    isOver = true
    await Promise.all(beating)
    for (const name of dead) expect(got('alert.firing', name)).toHaveLength(1)
    for (const name of healthy) expect(got('alert.firing', name)).toEqual([])
    const names = [...dead, ...healthy]
    expect(received.filter(({ type, process }) => type !== 'alert.firing' && names.includes(process))).toEqual([])
  })
})
