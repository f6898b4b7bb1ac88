// Progress of copy, export and import: lines in a pipe, one line that is rewritten on a terminal.
import { expect, test } from 'bun:test'
import { createProgressLine } from '../../src/copy/show-progress.ts'
import { createStepClock } from '../support/step-clock.ts'

const S = 1_000_000

function show(isTTY: boolean | undefined): string {
  const written: string[] = []
  const clock = createStepClock(0)
  const line = createProgressLine(
    { write: (text) => void written.push(text), ...(isTTY && { isTTY }) },
    clock,
    0,
    9_000,
  )
  for (let s = 1; s <= 25; s++) {
    clock.pass(S)
    line.show(s * 100)
  }
  line.say('One event was refused.')
  line.end()
  return written.join('')
}

test('progress into a pipe is a line every ten seconds, without carriage returns and colours', () => {
  expect(show(undefined)).toBe(
    '1,000 of 9,000 events, 100/s, 80 s left\n2,000 of 9,000 events, 100/s, 70 s left\nOne event was refused.\n',
  )
})

test('progress on a terminal rewrites its line, and ends it before anything else is written', () => {
  const shown = show(true)
  expect(shown.match(/\r\x1b\[K/g)).toHaveLength(25)
  expect(shown).toEndWith('\r\x1b[K2,500 of 9,000 events, 100/s, 65 s left\nOne event was refused.\n')
})
