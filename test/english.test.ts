// Plain English: phrases that readers stumbled over may not come back, in code, comments, test names or documentation. Each has an ordinary
// replacement beside it.
import { expect, test } from 'bun:test'
import { Glob } from 'bun'
import { ROOT, readRepo } from './support/readme.ts'

const RULED_OUT: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\bnought\b/i, 'zero'],
  [/\b(?:is|are) none\b/, 'name the fault: "is invalid", "does not exist", "is not a …"'],
  [/\bto be had\b/i, 'not available'],
  [/\bgoes? on working\b/i, 'keeps the old one valid'],
  [/\bno Stint answers\b/i, 'cannot reach Stint at …'],
  [/\b(?:is|are) not right\b/i, 'invalid'],
  [/\bheld up\b/i, 'paused'],
  [/\bfolded in\b/i, 'WAL checkpoint'],
  [/\bleave .{1,20} away\b/i, 'omit, unset'],
  [/\bwrongly called\b/i, 'usage error'],
  [/\b(?:is|are) told\b/i, 'is reported, printed, shown'],
  [/\banew\b/i, 'again'],
  [/\bso long the\b/i, 'while'],
  [/\bnobody is here\b/i, 'not a terminal'],
  [/\bsaid once\b/i, 'logged once'],
  [/\bmend(?:s|ed)?\b/i, 'fix, repair'],
  [/\bwhat is wrong\b/i, 'the fault'],
  [/\bfor ever\b/i, 'forever'],
  [/\bwhoever\b/i, 'name the subject: the caller, everyone who'],
  [/\banybody[’']s\b/i, 'name the subject'],
  [/\bstands? for\b/i, 'is, means, replaces'],
  [/\bseen to\b/i, 'handled, reserved'],
  [/\bkeeps? (?:anybody|nobody) out\b/i, 'axe-core finds a barrier'],
]

/** This file lists the phrases. */
const EXEMPT = new Set(['test/english.test.ts'])

const files = ['README.md', ...new Glob('{src,test}/**/*.{ts,md,py,sh}').scanSync(ROOT)].filter(
  (path) => !EXEMPT.has(path),
)

test.each(RULED_OUT.map(([phrase, instead]) => [phrase.source, instead, phrase] as const))(
  '%s is not written; write: %s',
  (_, _instead, phrase) => {
    const found = files.flatMap((path) =>
      readRepo(path)
        .split('\n')
        .flatMap((line, i) => (phrase.test(line) ? [`${path}:${i + 1}: ${line.trim().slice(0, 100)}`] : [])),
    )
    expect(found).toEqual([])
  },
)
