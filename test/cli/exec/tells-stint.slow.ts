// Many jobs of one user at once, and jobs that are killed while they send: each event is kept or sent, and none is lost.
import { describe, expect, test } from 'bun:test'
import { until } from '../../support/until.ts'
import { deadUrl, usePerTest } from './exec-cast.ts'

const { listen, open, userOf, silence } = usePerTest()

describe('many at once', () => {
  test('ten concurrent jobs keep every event during an outage; none is lost or duplicated', async () => {
    const user = userOf(deadUrl())
    await Promise.all(
      Array.from({ length: 10 }, (_, i) => user.run(['exec', '--process', `p${i}`, 'sh', '-c', 'sleep 0.05; exit 1'])),
    )
    expect(user.pending()).toHaveLength(30)
    const stint = await open()
    const env = { STINT_URL: stint.url, STINT_API_KEY: stint.key }
    const flush = () => user.run(['flush', '--all'], { env })
    while ((await flush()).exitCode !== 0); // a job that ended before its connection was refused has started a flush, too
    for (let i = 0; i < 10; i++)
      expect(await stint.runs(`p${i}`)).toMatchObject([{ state: 'failed', exceptions: ['sh: exited with code 1'] }])
    expect(await stint.events()).toHaveLength(30)
    expect(user.pendingFiles()).toEqual([])
  })

  test('ten concurrent jobs while kept events are sent', async () => {
    let isUp = false
    const stint = listen(() => (isUp ? undefined : new Response(null, { status: 503 })))
    const user = userOf(stint.url)
    await Promise.all(Array.from({ length: 5 }, (_, i) => user.run(['exec', '--process', `kept${i}`, 'true'])))
    isUp = true
    stint.events.length = 0
    await Promise.all(Array.from({ length: 10 }, (_, i) => user.run(['exec', '--process', `new${i}`, 'true'])))
    await until('all is sent', () => user.pendingFiles().length === 0)
    expect(new Set(stint.events.map(({ path, body }) => `${path} ${body.process}`)).size).toBe(30)
  })

  test('after kill -9 during sending, events are sent again unchanged and none is lost', async () => {
    const user = userOf(deadUrl())
    for (const name of ['a', 'b', 'c']) await user.run(['exec', '--process', name, 'false'])
    const kept = user.pending().map(({ kind, body }) => ({ path: `/v1/${kind}`, body }))
    const reached = Promise.withResolvers<void>()
    const stint = listen(async (_, count) => {
      if (count < 5) return undefined
      reached.resolve()
      return new Promise(() => {}) // the answer is lost
    })
    const first = user.start(['flush', '--all'], { env: { STINT_URL: stint.url } })
    await reached.promise
    first.kill('SIGKILL')
    await first.exited

    const again = await open()
    const env = { STINT_URL: again.url, STINT_API_KEY: again.key }
    const { stdout } = await user.run(['flush', '--all'], { env })
    expect(stdout.toString()).toMatch(/^9 sent, 0 refused, 0 left\n$/)
    expect(await again.runs('a')).toMatchObject([{ state: 'failed', exceptions: ['false: exited with code 1'] }])
    expect(await again.events()).toHaveLength(9)
    const keptOnes = new Set(kept.map((event) => JSON.stringify(event)))
    expect(stint.events.every(({ path, body }) => keptOnes.has(JSON.stringify({ path, body })))).toBe(true)
  })

  test('after kill -9 of stint itself, an unacknowledged start is kept', async () => {
    const user = userOf(silence().url)
    const child = user.start(['exec', '--', 'sleep', '60'])
    await until('the start is kept', () => user.pending().length === 1)
    child.kill('SIGKILL')
    await child.exited
    expect(user.pending().map(({ kind }) => kind)).toEqual(['start'])
  })
})
