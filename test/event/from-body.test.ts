import { expect, test } from 'bun:test'
import { eventFromBody } from '../../src/event/from-body.ts'

const STAMP = { us: 1_795_211_562_171_920, sub: 0 }

test('a mark is stripped, and what it lacks is empty', () => {
  expect(eventFromBody('start', { process: `night'ly\\` }, 'acc', STAMP)).toEqual({
    kind: 'start',
    account: 'acc',
    process: 'nightly',
    meta: '',
    uid: '',
    stamp: STAMP,
  })
  expect(eventFromBody('end', { process: 'p', meta: 'eu%', uid: 'run-1' }, 'acc', STAMP)).toEqual({
    kind: 'end',
    account: 'acc',
    process: 'p',
    meta: 'eu',
    uid: 'run-1',
    stamp: STAMP,
  })
})

test('metrics of a list become names and values; their names are not stripped', () => {
  const event = eventFromBody('metrics', { process: 'p', items: [{ name: 'a b', value: 1 }, { c: 2 }] }, 'acc', STAMP)
  expect(event).toEqual({
    kind: 'metrics',
    account: 'acc',
    process: 'p',
    meta: '',
    stamp: STAMP,
    items: [
      ['a b', 1],
      ['c', 2],
    ],
  })
})

test('the text of an exception is kept as it is', () => {
  const exception = `Error: it's 100% "broken"\n\tat C:\\`
  expect(eventFromBody('exception', { process: 'p', exception }, 'acc', STAMP)).toMatchObject({ exception })
  expect(eventFromBody('exception', { process: 'p', exception: '' }, 'acc', STAMP)).toMatchObject({ exception: '' })
})
