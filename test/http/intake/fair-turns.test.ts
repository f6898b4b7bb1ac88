import { expect, test } from 'bun:test'
import { createFairTurns } from '../../../src/http/intake/fair-turns.ts'

test('accounts take turns, whatever their load, each in its own order', async () => {
  const takeTurn = createFairTurns()
  const order: string[] = []
  const work = async (account: string, pieces: number) => {
    for (let i = 0; i < pieces; i++) {
      await takeTurn(account)
      order.push(account)
    }
  }
  await Promise.all([...Array.from({ length: 10 }, () => work('a', 10)), work('b', 5), work('c', 5)])
  expect(order).toHaveLength(110)
  expect(order.slice(0, 15).filter((account) => account === 'a')).toHaveLength(5)
  const late = order.lastIndexOf('b')
  expect(late).toBeLessThan(16)
})

test('yields to the event loop between two slices', async () => {
  const takeTurn = createFairTurns()
  const seen: string[] = []
  const slices = (async () => {
    for (let i = 0; i < 3; i++) {
      await takeTurn('a')
      seen.push('slice')
      setImmediate(() => seen.push('other'))
    }
  })()
  await slices
  expect(seen.slice(0, 5)).toEqual(['slice', 'other', 'slice', 'other', 'slice'])
})
