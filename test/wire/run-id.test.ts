// The uid of a run, by every client in its own language, against one table of ids as schedulers have them.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkUid } from '../../src/event/fields.ts'
import { toUid } from '../../src/wire/run-id.ts'
import { findPython, missing } from '../support/needs.ts'
import { ROOT } from '../support/readme.ts'

/** The table, and what it is silent about. Python and the shell do the same with each. */
const CASES = readFileSync(join(import.meta.dir, 'run-ids.tsv'), 'utf8')
  .trimEnd()
  .split('\n')
  .slice(1)
  .map((line) => line.split('\t') as [id: string, uid: string])
const MORE: readonly string[] = [
  ...[
    'a'.repeat(51),
    'A'.repeat(50),
    'A'.repeat(51),
    'a\nb',
    ' a ',
    '-',
    '--x',
    '-n',
    '%s\\n',
    "it's",
    '"',
    '$HOME',
    '`x`',
  ],
  ...['K', 'ß', '🙂', `${'é'.repeat(30)}x`, 'a\tb', 'x\\', '\u007f', '*', '!', 'a b c', '4711'],
]

test.each(CASES)('%j is sent as %s', (id, uid) => {
  expect(toUid(id)).toBe(uid)
})

test.each([...CASES.flat(), ...MORE, ''])(
  'of %j it is one that the server accepts, and mapping twice changes nothing',
  (id) => {
    const uid = toUid(id)
    expect(checkUid(uid)).toEqual([])
    expect(toUid(uid)).toBe(uid)
  },
)

test('two ids that differ in what is replaced or cut stay two', () => {
  const ids = ['a b', 'a.b', 'a  b', `${'x'.repeat(60)}1`, `${'x'.repeat(60)}2`, 'JOB.7', 'job.7']
  expect(new Set(ids.map(toUid)).size).toBe(ids.length)
})

const ALL = [...CASES.map(([id]) => id), ...MORE]
const expected = ALL.map(toUid)

describe('the same uid comes from', () => {
  test.skipIf(missing('python') !== undefined)('the Python client', () => {
    const script = 'import json, sys, stint; print(json.dumps([stint._uid(each) for each in json.load(sys.stdin)]))'
    const { stdout } = Bun.spawnSync([findPython()!, '-c', script], {
      cwd: join(ROOT, 'src/client/python'),
      stdin: Buffer.from(JSON.stringify(ALL)),
    })
    expect(JSON.parse(stdout.toString())).toEqual(expected)
  })

  test.each([
    ['dash', ['dash']],
    ['bash', ['bash']],
    ['busybox', ['busybox', 'sh']],
  ])('the shell client in %s', (name, shell) => {
    if (Bun.which(name) === null) return
    const script = readFileSync(join(ROOT, 'src/client/sh/stint.sh'), 'utf8')
    const body = /^to_uid\(\) \{[\s\S]*?^\}$/m.exec(script)![0]
    const found = ALL.map((id) =>
      Bun.spawnSync([...shell, '-c', `set -u\n${body}\nuid=$1\nto_uid\nprintf %s "$uid"`, 'sh', id]).stdout.toString(),
    )
    expect(found).toEqual(expected)
  })
})
