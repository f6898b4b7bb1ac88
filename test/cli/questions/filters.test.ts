// Invalid flags of a question are reported before any request.
import { expect, test } from 'bun:test'
import { createPerson } from '../cli-cast.ts'

const person = createPerson('http://127.0.0.1:1')

test.each([
  ['--from', '2026-02-30 06:00'],
  ['--from', '2026-11-31'],
  ['--to', 'yesterday'],
])('refuses %s %s and lists all valid forms', async (flag, time) => {
  const { exitCode, stdout, stderr } = await person.run(['timings', flag, time])
  expect([exitCode, stdout]).toEqual([2, ''])
  expect(stderr).toStartWith(`stint: option '${flag} <time>' argument '${time}' is invalid.`)
  for (const form of ['2026-11-20 21:00', 'RFC 3339', '-90m']) expect(stderr).toContain(form)
})
