import { expect, test } from 'bun:test'
import { createFairTurns } from '../../../src/store/clickhouse/fair-turns.ts'
import { ClickHouseFault } from '../../../src/store/clickhouse/judge-failure.ts'

function open() {
  const done: string[] = []
  const turns = createFairTurns(1, async () => void done.push('clear'))
  const { promise: gate, resolve: start } = Promise.withResolvers<void>()
  const held = turns.take(undefined, () => gate)
  const ask = (account: string, name: string, signal?: AbortSignal) =>
    turns.take({ account, ...(signal && { signal }) }, async () => {
      done.push(name)
      if (name.startsWith('bad')) throw new Error(name)
      return name
    })
  const begin = () => {
    start()
    return held
  }
  return { done, ask, start: begin }
}

test('an account with many questions delays another by one question', async () => {
  const { done, ask, start } = open()
  const answers = [ask('ada', 'a1'), ask('ada', 'a2'), ask('ada', 'a3'), ask('eve', 'e1'), ask('bob', 'b1')]
  await start()
  expect(await Promise.all(answers)).toEqual(['a1', 'a2', 'a3', 'e1', 'b1'])
  expect(done).toEqual(['a1', 'e1', 'b1', 'a2', 'a3'])
})

test('an abandoned statement is not started, and fails at once', async () => {
  const { done, ask, start } = open()
  const client = new AbortController()
  const left = Promise.allSettled([ask('ada', 'a1', client.signal), ask('ada', 'a2', client.signal)])
  const stays = ask('ada', 'a3')
  client.abort()
  const fault = { status: 'rejected', reason: expect.any(ClickHouseFault) }
  expect(await left).toEqual([fault, fault] as never) // while the turn of another still runs
  await expect(ask('ada', 'a4', client.signal)).rejects.toBeInstanceOf(ClickHouseFault)
  await start()
  expect(await stays).toBe('a3')
  expect(done).toEqual(['a3'])
})

test('after work that failed the connection is cleared before the next turn', async () => {
  const { done, ask, start } = open()
  const answers = Promise.allSettled([ask('ada', 'bad'), ask('eve', 'e1')])
  await start()
  expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  expect(done).toEqual(['bad', 'clear', 'e1'])
})

test('with two connections an account never delays another', async () => {
  const turns = createFairTurns(2, async () => {})
  const running = new Set<string>()
  const { promise: gate, resolve: finish } = Promise.withResolvers<void>()
  const ask = (account: string, name: string) =>
    turns.take({ account }, async (connection) => {
      running.add(`${name} on ${connection}`)
      await gate
      return name
    })
  const answers = [ask('ada', 'a1'), ask('ada', 'a2'), ask('ada', 'a3'), ask('eve', 'e1'), ask('bob', 'b1')]
  expect([...running]).toEqual(['a1 on 0', 'e1 on 1'])
  finish()
  expect(await Promise.all(answers)).toEqual(['a1', 'a2', 'a3', 'e1', 'b1'])
  expect([...running].slice(2).map((each) => each.slice(0, 2))).toEqual(['b1', 'a2', 'a3'])
})

test('an account runs a short question beside a long one, but leaves one connection to others', async () => {
  const turns = createFairTurns(3, async () => {})
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const ask = (account: string, name: string) =>
    turns.take({ account, isShort: name.startsWith('short') }, () => {
      begun.push(name)
      return new Promise<void>((resolve) => ends.set(name, resolve))
    })
  const ada = ['long 1', 'long 2', 'short 1', 'short 2'].map((name) => ask('ada', name))
  expect(begun).toEqual(['long 1', 'short 1'])
  const eve = [ask('eve', 'long of eve'), ask('eve', 'short of eve')]
  expect(begun.slice(2)).toEqual(['long of eve'])
  const end = async (name: string) => {
    ends.get(name)!()
    await Bun.sleep(0)
  }
  await end('short 1')
  expect(begun.slice(3)).toEqual([]) // two accounts have one each, and the last is for a third
  await end('long 1')
  expect(begun.slice(3)).toEqual(['short of eve', 'long 2'])
  for (const name of ['long of eve', 'short of eve', 'long 2', 'short 2']) await end(name)
  await Promise.all([...ada, ...eve])
})
