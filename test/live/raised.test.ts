// The exceptions of one process and meta that are remembered.
import { expect, test } from 'bun:test'
import { createRaised, MOMENTS_KEPT, raise } from '../../src/live/raised.ts'

const at = (s: number, text = 'Error: x', fingerprint = 'group', former?: string) => ({
  ...{ atUs: s * 1e6, restNs: 0, uid: null, fingerprint, former, text },
})

test('of more than 100 groups the one that was raised longest ago goes', () => {
  const raised = createRaised()
  for (let i = 0; i < 102; i++) raise(raised, at(i, 'Error: x', `group ${i}`))
  const names = [...raised.groups.keys()]
  expect([names.length, names[0], names.at(-1)]).toEqual([100, 'group 2', 'group 101'])
})

test('of more than 60 exceptions the newest are kept, and an older one is left to the store', () => {
  const raised = createRaised()
  for (let i = 1; i <= MOMENTS_KEPT + 1; i++) expect(raise(raised, at(i))).toBe(true)
  expect([raised.moments.length, raised.moments.at(-1)!.atUs]).toEqual([MOMENTS_KEPT, 2e6])
  expect(raise(raised, at(1.5))).toBe(false)
  expect(raised.moments).toHaveLength(MOMENTS_KEPT)
})

test('a group has the text of its newest exception, and its decision of 2.0 by whatever of them told it', () => {
  const raised = createRaised()
  raise(raised, at(2, 'Error: newest', 'group', 'former'))
  raise(raised, at(1, 'Error: late'))
  expect(raised.groups.get('group')).toMatchObject({ headline: 'Error: newest', atUs: 2e6, former: 'former' })
})
