// The exceptions of one process and meta that are remembered.
import { expect, test } from 'bun:test'
import { createRaised, raise } from '../../src/live/raised.ts'

test('of more than 100 groups the one that was raised longest ago goes', () => {
  const raised = createRaised()
  for (let i = 0; i < 102; i++)
    raise(raised, { atUs: i * 1e6, restNs: 0, uid: null, fingerprint: `group ${i}`, text: 'Error: x' })
  const names = [...raised.groups.keys()]
  expect([names.length, names[0], names.at(-1)]).toEqual([100, 'group 2', 'group 101'])
})
