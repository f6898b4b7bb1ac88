// The first line of the log that a new operator acts on.
import { expect, test } from 'bun:test'
import { describeFirstStep } from '../../src/service/report.ts'
import { COMMAND_LINES } from '../../src/version.ts'

const CODE = ' --setup-code H9TM'
const OWN = 'http://127.0.0.1:7070'

test.each([
  ['clone', OWN, undefined, `\`bun run stint account create${CODE}\` or at ${OWN}/`],
  ['clone', 'http://[::]:81', undefined, `\`STINT_URL=http://127.0.0.1:81 bun run stint account create${CODE}\``],
  ['package', OWN, undefined, `\`npx stint account create${CODE}\` or at ${OWN}/`],
  ['container', 'http://0.0.0.0:7070', undefined, `\`bun run stint account create${CODE}\` in this container or in a`],
  ['container', 'http://0.0.0.0:7070', 'https://stint.example', 'in this container or at https://stint.example/'],
] as const)('in a %s that listens on %s the log names a command that works there', (place, url, publicUrl, hint) => {
  expect(describeFirstStep(COMMAND_LINES[place], url, publicUrl, CODE)).toContain(hint)
})
