// Which accounts are kept, for whom, and which are said to be looked at.
import { expect, test } from 'bun:test'
import { bytesOfProcess, createAccount, findProcess, rowOf } from '../../src/live/account.ts'
import { adopt, createHeldAccounts } from '../../src/live/held-accounts.ts'

const MINUTE_US = 60e6

test('an account is looked at for ten minutes, and kept while another node asks about it', () => {
  let nowUs = 0
  let isOpen = false
  const forgotten: string[] = []
  const accounts = createHeldAccounts({
    ...{ nowUs: () => nowUs, maxBytes: 1e6 },
    onFirst: () => (isOpen = true),
    onLast: () => (isOpen = false),
    onForget: (account) => forgotten.push(account),
  })
  accounts.find('ada')
  accounts.find('eve')
  accounts.serve('ada')
  expect(accounts.looked()).toEqual(['ada', 'eve']) // in the order in which they were asked for here
  nowUs += 8 * MINUTE_US
  accounts.find('eve')
  accounts.serve('ada')
  accounts.serve('bob')
  nowUs += 8 * MINUTE_US
  accounts.sweep()
  expect([accounts.looked(), [...accounts.held.keys()]]).toEqual([['eve'], ['ada', 'eve', 'bob']])
  expect(forgotten).toEqual([])
  nowUs += 8 * MINUTE_US
  accounts.sweep()
  expect([accounts.held.size, isOpen, forgotten]).toEqual([0, false, ['ada', 'eve', 'bob']])
})

test('a base takes the place of the former one without a loop over its processes', () => {
  const accounts = createHeldAccounts({
    ...{ nowUs: () => 0, maxBytes: 1e6 },
    onFirst: () => {},
    onLast: () => {},
    onForget: () => {},
  })
  const one = accounts.find('ada')
  one.account.version = 7
  const fresh = createAccount('ada')
  Object.freeze(findProcess(fresh, 'job'))
  adopt(one, fresh, undefined)
  expect([one.account, fresh.version, fresh.sinceVersion]).toEqual([fresh, 8, 8])
  accounts.close()
})

test('a process that was read again takes the place and the room of the former one, and may have to be read again', () => {
  const one = createHeldAccounts({
    ...{ nowUs: () => 0, maxBytes: 1e6 },
    onFirst: () => {},
    onLast: () => {},
    onForget: () => {},
  }).find('ada')
  const { account } = one
  const seqs = { points: 3, exceptions: 0 }
  account.bytes = bytesOfProcess(findProcess(account, 'job'))
  account.again.set('job', seqs)
  const fresh = createAccount('ada')
  rowOf(findProcess(fresh, 'job'), 'eu')
  adopt(one, fresh, ['job'])
  expect([account.bytes, account.again.size]).toEqual([bytesOfProcess(fresh.processes.get('job')!), 0])
  fresh.again.set('job', seqs)
  adopt(one, fresh, ['job'])
  expect([...account.again]).toEqual([['job', seqs]])
})
