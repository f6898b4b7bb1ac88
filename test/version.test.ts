import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import { formatVersion, readHead, readVersion } from '../src/version.ts'
import { tempDir } from './support/temp-dir.ts'

const HASH = '0123456789abcdef0123456789abcdef01234567'

function clone(files: Readonly<Record<string, string>>): string {
  const root = tempDir('clone')
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

test('the version is that of package.json', () => {
  expect(readVersion().version).toBe(packageJson.version)
  expect(formatVersion({ version: '1.2.3', commit: 'abc' })).toBe('1.2.3 (abc)')
  expect(formatVersion({ version: '1.2.3' })).toBe('1.2.3')
})

test.each([
  ['a branch', { '.git/HEAD': 'ref: refs/heads/main\n', '.git/refs/heads/main': `${HASH}\n` }],
  [
    'a packed branch',
    { '.git/HEAD': 'ref: refs/heads/main\n', '.git/packed-refs': `# pack-refs\n${HASH} refs/heads/main\n` },
  ],
  ['a detached head', { '.git/HEAD': `${HASH}\n` }],
])('the commit of a clone is read from %s', (_, files) => {
  expect(readHead(clone(files))).toBe(HASH)
})

test('the commit of a worktree is read from the clone it belongs to', () => {
  const main = clone({ '.git/refs/heads/side': HASH, '.git/worktrees/w/HEAD': 'ref: refs/heads/side\n' })
  writeFileSync(join(main, '.git/worktrees/w/commondir'), '../..\n')
  expect(readHead(clone({ '.git': `gitdir: ${main}/.git/worktrees/w\n` }))).toBe(HASH)
})

test('outside a clone there is no commit', () => {
  expect(readHead(tempDir('no-clone'))).toBeUndefined()
})
