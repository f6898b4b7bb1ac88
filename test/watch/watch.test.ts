// Which processes a watch is about.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createMatch } from '../../src/process/process-pattern.ts'

const matches = (process: string, name: string) => createMatch(process)(name)

describe('a pattern', () => {
  test('matches what a regular expression would', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*'), maxLength: 6 })
    const name = fc.string({ unit: fc.constantFrom('a', 'b', '.', '\n'), maxLength: 9 })
    fc.assert(
      fc.property(text, name, (process, name) => {
        const pattern = process.replaceAll('.', '\\.').replaceAll(/\*+/g, '[^]*')
        expect(matches(process, name)).toBe(new RegExp(`^${pattern}$`).test(name))
      }),
      { numRuns: 3000 },
    )
  })

  test('of many parts is decided at once, also for a name that almost matches', () => {
    expect(matches(`${'a*'.repeat(120)}c`, `${'a'.repeat(240)}b`)).toBe(false)
    expect(matches(`${'a*'.repeat(120)}c`, `${'a'.repeat(240)}c`)).toBe(true)
  })
})
