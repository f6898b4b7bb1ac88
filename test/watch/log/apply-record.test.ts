// Records of the spool: the same event, sent twice, reaches the judge as the same event.
import { expect, test } from 'bun:test'
import { toRecord } from '../../../src/event/record.ts'
import { applyRecord } from '../../../src/watch/log/apply-record.ts'
import { ACCOUNT, type Desk, openDesk, S, T0, watchOf } from './judge-kit.ts'

const common = { account: ACCOUNT, process: 'job', meta: '', uid: 'a' }
const isIgnored = async () => false

const send = async (desk: Desk, record: string, seconds: number) => {
  desk.advance(T0 + seconds * S)
  await applyRecord(desk.judge, record, T0 + seconds * S, isIgnored)
}

test('an exception is identified by its stamp and content', async () => {
  const desk = openDesk({ watches: [watchOf('w', { failed: { after: 3, exceptions: true } })] })
  const raise = (sub: number, exception: string) =>
    toRecord({ ...common, kind: 'exception', stamp: { us: T0 + S, sub }, exception })
  await send(desk, raise(7, 'Error: x\n at a'), 1)
  await send(desk, raise(7, 'Error: x\n at a'), 2)
  await send(desk, raise(7, 'Error: x\n at b'), 3)
  expect(desk.story()).toBe('')
  await send(desk, raise(17, 'Error: x\n at a'), 4)
  expect(desk.story()).toBe('failed@1')
})

test('a point is identified by its stamp, name and value, whatever the order of its metrics', async () => {
  const mean = { name: 'rows', window: '1m', of: 'mean', above: 10 } as const
  const desk = openDesk({ watches: [watchOf('m', { metric: mean })] })
  const measure = (...items: [string, number][]) =>
    toRecord({ ...common, kind: 'metrics', stamp: { us: T0 + S, sub: 7 }, items })
  await send(desk, measure(['rows', 4], ['size', 1]), 1)
  await send(desk, measure(['rows', 4], ['size', 1]), 2)
  await send(desk, measure(['size', 1], ['rows', 4]), 3)
  await send(desk, measure(['rows', 15]), 4)
  expect(desk.story()).toBe('')
  await send(desk, measure(['rows', 30]), 5)
  expect(desk.pending()[0]!.alert.episode.figure).toBeCloseTo(49 / 3)
})
