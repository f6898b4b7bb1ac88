// Who is served when: the work here ends when the test says so, so that places are counted instead of time.
import { expect, test } from 'bun:test'
import { createPasswordLine } from '../../src/account/password-line.ts'
import { codeOf, problemOf } from './accounts-cast.ts'

function createLine() {
  const begun: string[] = []
  const ends: (() => void)[] = []
  const inTurn = createPasswordLine(async (work: string) => {
    begun.push(work)
    await new Promise<void>((resolve) => ends.push(resolve))
    return work
  })
  /** Ends what runs, one after the other, until all that waited was served. */
  async function serve(): Promise<readonly string[]> {
    await Bun.sleep(0)
    while (ends.length > 0) {
      ends.shift()!()
      await Bun.sleep(0)
    }
    return begun
  }
  const ask = (work: string, name: string, isKnown = false) => inTurn(work, { name, isKnown })
  return { ask, serve, begun }
}

const guesser = (i: number) => `2001:db8:bbbb:${i.toString(16)}::/64`

test('65,536 networks of one site cost a known network one hash, and a stranger two', async () => {
  const { ask, serve } = createLine()
  let refused = 0
  const guesses = Array.from({ length: 65_536 }, (_, i) => ask('guess', guesser(i)).catch(() => void refused++))
  const asked = [ask('stranger', '198.51.100.7'), ask('known', '203.0.113.7', true)]
  expect((await serve()).slice(0, 5)).toEqual(['guess', 'known', 'guess', 'stranger', 'guess'])
  await Promise.all([...guesses, ...asked])
  expect(refused).toBe(65_536 - 18)
})

test('sites beyond their first place are served in turns', async () => {
  const { ask, serve } = createLine()
  const asked = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3'].map((work) =>
    ask(work, work.startsWith('a') ? '192.0.2.1' : '198.51.100.1'),
  )
  expect(await serve()).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'a4', 'b3'])
  await Promise.all(asked)
})

test('refuses an asker with a full line, and serves everybody in it and another asker', async () => {
  const { ask, serve, begun } = createLine()
  const asked = Array.from({ length: 17 }, () => ask('mine', 'a session', true))
  expect(await problemOf(() => ask('mine', 'a session', true))).toMatchObject({ code: 'rate_limited', retryAfterS: 2 })
  asked.push(ask('other', 'another', true))
  await serve()
  await Promise.all(asked)
  expect(begun.filter((work) => work === 'mine').length).toBe(17)
  const again = ask('again', 'a session', true)
  await serve()
  expect(await again).toBe('again')
})

test('a line full of strangers refuses strangers alone', async () => {
  const { ask, serve } = createLine()
  const asked = Array.from({ length: 257 }, (_, i) => ask('guess', `10.${i >> 8}.${i & 255}.1`))
  expect(await codeOf(() => ask('stranger', '198.51.100.1'))).toBe('rate_limited')
  asked.push(ask('known', '203.0.113.7', true))
  expect((await serve())[1]).toBe('known')
  await Promise.all(asked)
})
