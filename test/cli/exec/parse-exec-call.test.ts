import { describe, expect, test } from 'bun:test'
import { parseExecCall } from '../../../src/cli/exec/parse-exec-call.ts'
import { useJobs } from './exec-cast.ts'

const { stint, user } = useJobs()

test.each<[string[], object]>([
  [['ls'], { command: ['ls'] }],
  [
    ['--process', 'a b', '--meta=', '--uid=x=y', 'ls', '-la'],
    { process: 'a b', meta: '', uid: 'x=y', command: ['ls', '-la'] },
  ],
  [['--meta', 'eu', 'ls', '--process', 'x'], { meta: 'eu', command: ['ls', '--process', 'x'] }],
  [['--', '--odd', '--', 'x'], { command: ['--odd', '--', 'x'] }],
  [['ls', '--', '--help'], { command: ['ls', '--', '--help'] }],
  [['--ok', '0,3', '--wait=1m', ''], { ok: [0, 3], wait: 60, command: [''] }],
  [['--wait', '0', '-'], { wait: 0, command: ['-'] }],
  [['--meta=\n', 'ls'], { meta: '\n', command: ['ls'] }],
])('%j', (args, call) => {
  expect(parseExecCall(args)).toEqual(call as never)
})

test.each(['--help', '-h', '--process x --help', '--help ls'])('%s asks for help', (line) => {
  expect(parseExecCall(line.split(' '))).toBe('help')
})

test('help names each flag', async () => {
  const { stdout, exitCode } = await user.run(['exec', '--help'])
  expect([exitCode, stdout.toString().match(/--[\w-]+/g)]).toEqual([
    0,
    ['--process', '--meta', '--uid', '--ok', '--output', '--no-output', '--wait', '--help'],
  ])
})

test.each<[string[], string]>([
  [[], 'the command is missing'],
  [['--'], 'the command is missing'],
  [['--process'], "Option '--process <value>' argument missing"],
  [['--proces', 'x', 'ls'], "Unknown option '--proces'"],
  [['-x', 'ls'], "Unknown option '-x'"],
  [
    ['--timeout', '30m', '--', 'ls'],
    'no option --timeout: limit the time by timeout(1): stint exec -- timeout 30m COMMAND',
  ],
  ...['256', 'a', '', '1,'].map((codes): [string[], string] => [
    [`--ok=${codes}`, 'true'],
    'invalid --ok: expected exit codes',
  ]),
  ...['soon', '', '1.5s'].map((span): [string[], string] => [
    [`--wait=${span}`, 'true'],
    'invalid --wait: expected a span',
  ]),
])('%j is a usage error, and nothing runs', async (args, message) => {
  const { exitCode, stderr } = await user.run(['exec', ...args])
  expect(exitCode).toBe(2)
  expect(stderr.toString()).toStartWith(`stint: ${message}`)
  expect(stint.events).toEqual([])
})

describe('--ok', () => {
  test('an accepted exit code is passed through and the run is not failed', async () => {
    expect(
      (await user.run(['exec', '--process', 'accepted', '--ok', '0,3', '--', 'sh', '-c', 'exit 3'])).exitCode,
    ).toBe(3)
    const heard = stint.events.filter(({ body }) => body.process === 'accepted')
    expect(heard.map(({ path }) => path)).toContain('/v1/end')
    expect(heard.some(({ path, body }) => path === '/v1/exception' || 'failed' in body)).toBe(false)
  })
})
