import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type ExecCall, parseExecCall } from '../../../src/cli/exec/parse-exec-call.ts'
import { register } from '../../../src/cli/exec.ts'
import type { Io } from '../../../src/cli/io.ts'
import { createProgram, parsingExitCode } from '../../../src/cli/program.ts'

const silent = { stdout: { write() {} }, stderr: { write() {} } } as unknown as Io

/** What the full parser makes of it; undefined when it refuses, or shows help. */
async function parseFully(args: readonly string[]): Promise<ExecCall | undefined> {
  const program = createProgram(silent, '', '0', '')
  register(program, silent)
  let call: ExecCall | undefined
  program.commands[0]!.action(([name, ...rest]: [string, ...string[]], options: object) => {
    call = { ...options, command: [name, ...rest] }
  })
  try {
    await program.parseAsync([...args], { from: 'user' })
  } catch (error) {
    if (parsingExitCode(error) === undefined) throw error
  }
  return call
}

const word = fc.constantFrom(
  '--process',
  '--meta',
  '--uid',
  '--process=a',
  '--meta=',
  '--uid=x=y',
  '--',
  '-',
  '-x',
  '--help',
  '-h',
  '--proc',
  'ls',
  '-la',
  'a b',
  '',
  'exec',
  '--meta=\n',
)

test('the fast path parses the plain form like the full parser', async () => {
  let plain = 0
  await fc.assert(
    fc.asyncProperty(fc.array(word, { maxLength: 6 }), async (words) => {
      const call = parseExecCall(['exec', ...words])
      if (call === undefined) return
      plain++
      expect(call).toEqual((await parseFully(['exec', ...words]))!)
    }),
    { numRuns: 1500 },
  )
  expect(plain).toBeGreaterThan(200)
})

test('leaves any other form to the full parser', () => {
  for (const args of [
    [],
    ['exec'],
    ['exec', '--help'],
    ['exec', '--process'],
    ['exec', '--'],
    ['exec', '--proces', 'x', 'ls'],
    ['flush'],
    ['timings'],
  ])
    expect(parseExecCall(args)).toBeUndefined()
})

test('passes arguments after the command to the command', () => {
  expect(parseExecCall(['exec', '--meta', 'eu', 'ls', '--process', 'x'])).toEqual({
    meta: 'eu',
    command: ['ls', '--process', 'x'],
  })
  expect(parseExecCall(['exec', '--', '--odd', '--', 'x'])).toEqual({ command: ['--odd', '--', 'x'] })
})
