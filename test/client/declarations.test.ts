// The types that Stint hands out are those of the client, and a program that uses them compiles.
import { expect, test } from 'bun:test'
import { DECLARATIONS, writeDeclarations } from '../support/client-declarations.ts'
import { readRepo } from '../support/readme.ts'

test('stint.d.ts is what `bun test/support/client-declarations.ts` writes', () => {
  expect(readRepo(DECLARATIONS)).toBe(writeDeclarations())
})
