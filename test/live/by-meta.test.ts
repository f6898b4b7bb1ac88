// One value by itself, several in a map: nobody sees the difference.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { ByMeta } from '../../src/live/by-meta.ts'

test('values are found by their meta as in a map', () => {
  const change = fc.record({ meta: fc.constantFrom('', 'eu', 'us'), value: fc.nat() })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 8 }), (changes) => {
      const [found, expected] = [new ByMeta<number>(), new Map<string, number>()]
      for (const { meta, value } of changes) {
        found.set(meta, value)
        expected.set(meta, value)
        for (const one of ['', 'eu', 'us']) expect(found.get(one)).toBe(expected.get(one))
      }
      expect([found.keys(), found.values()]).toEqual([[...expected.keys()], [...expected.values()]])
    }),
  )
})
