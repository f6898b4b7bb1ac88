// Folding events into an account: what is bounded, and what is asked of the stores again.
import { expect, test } from 'bun:test'
import { createAccount, type Folding, foldEvents, type LoggedEvent, noteEvents } from '../../src/live/account.ts'
import { startAt, T0 } from './live-cast.ts'

const folding: Folding = { maxRunUs: 86_400e6, maxBytes: 1e6, fingerprint: () => 'group' }

let seq = 0
const logged = (ms: number, process = 'job', meta = ''): LoggedEvent => ({
  event: startAt(ms, { process, meta, uid: `u${ms}` }),
  seqs: { points: ++seq, exceptions: 0 },
})

test('a process was seen when its newest event happened, whichever came last', () => {
  const account = createAccount('ada')
  foldEvents(account, [logged(T0), logged(T0 - 1_000)], folding)
  expect(account.processes.get('job')!.seenUs).toBe(T0 * 1000)
})

test('of more than 101 metas of a process the first are named', () => {
  const account = createAccount('ada')
  foldEvents(
    account,
    Array.from({ length: 150 }, (_, i) => logged(T0 + i, 'job', `m${i}`)),
    folding,
  )
  expect(account.processes.get('job')!.metas).toHaveLength(101)
})

test.each([
  ['folded', foldEvents],
  ['noted', noteEvents],
])('once events are %s, the account is not stored before the newest of them is', (_, fold) => {
  const account = createAccount('ada')
  fold(account, [logged(T0, 'one'), logged(T0, 'two')], folding)
  expect(account.seqs).toEqual({ points: seq, exceptions: 0 })
})

test('a process that had no room is read again when it sends something, and not once it has to go', () => {
  const account = createAccount('ada')
  const small = { ...folding, maxBytes: 1 }
  foldEvents(account, [logged(T0, 'one')], small)
  foldEvents(account, [logged(T0 + 1_000, 'two')], small)
  expect([[...account.processes.keys()], account.omitted]).toEqual([['two'], 1])
  foldEvents(account, [logged(T0 + 2_000, 'one')], small)
  expect([[...account.processes.keys()], [...account.again.keys()]]).toEqual([['one'], ['one']])
  foldEvents(account, [logged(T0 + 3_000, 'two')], small)
  expect([[...account.processes.keys()], [...account.again.keys()]]).toEqual([['two'], ['two']])
})
