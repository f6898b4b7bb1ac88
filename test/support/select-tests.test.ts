import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { selectTests } from './select-tests.ts'
import { tempDir } from './temp-dir.ts'

const root = tempDir('select-tests')
for (const file of ['spool/kill.slow.ts', 'spool/kill.test.ts', 'spool/deep/crash.test.ts', 'http/spool.test.ts']) {
  mkdirSync(dirname(join(root, 'test', file)), { recursive: true })
  writeFileSync(join(root, 'test', file), '')
}
const FAST = ['./test/http/spool.test.ts', './test/spool/deep/crash.test.ts', './test/spool/kill.test.ts']
const SLOW = ['./test/spool/kill.slow.ts']

test.each<[args: string, sets: string[][], options: string[]]>([
  ['', [FAST], []],
  ['--slow', [SLOW], []],
  ['--all', [FAST, SLOW], []],
  ['spool', [FAST.slice(1)], []],
  ['spool/deep/', [['./test/spool/deep/crash.test.ts']], []],
  ['spool/kill', [['./test/spool/kill.test.ts']], []],
  ['spool/kill --slow', [SLOW], []],
  ['--all test/spool/kill --bail', [['./test/spool/kill.test.ts'], SLOW], ['--bail']],
  ['test/spool/kill.test.ts ./test/http spool', [FAST], []],
])('`%s` runs these files', (args, sets, options) => {
  expect(selectTests(args.split(' ').filter(Boolean), root)).toMatchObject({ sets, options, retriesFiles: false })
})

test('an absolute path runs that file', () => {
  const { sets } = selectTests([join(root, 'test/spool/kill.test.ts')], root)
  expect(sets).toEqual([['./test/spool/kill.test.ts']])
})

test.each(['spol', 'http --slow', 'spool/kill.slow.ts'])('`%s` fits no file and is an error', (args) => {
  expect(() => selectTests(args.split(' '), root)).toThrow(/ has no \.(test|slow)\.ts file/)
})
