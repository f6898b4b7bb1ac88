// A watches.sqlite of an earlier version becomes one of this version.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { RELEASED } from '../../support/released.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { openStore } from '../watch-cast.ts'

function unpack(version: string): { dir: string; file: Database } {
  const dir = tempDir('upgrade')
  const tar = ['tar', '-xJf', join(RELEASED, `${version}.tar.xz`), '-C', dir]
  expect(Bun.spawnSync([...tar, './watches.sqlite', './watches.sqlite-wal']).success).toBe(true)
  return { dir, file: new Database(join(dir, 'watches.sqlite')) }
}

test('a position of 2.0 is followed by what is not judged yet, however late its known_us is', async () => {
  const { dir, file } = unpack('2.0.0')
  const spools = file.query<{ spool: string }, []>('SELECT spool FROM feed').all()
  expect(spools).not.toBeEmpty()
  file.run('UPDATE feed SET byte = 42, known_us = 4711')
  file.close()
  const store = openStore(dir)
  const rows = await store.feedPositions()
  expect(rows.map(({ knownUs, position }) => [knownUs, position.offset])).toEqual(spools.map(() => [0, 42]))
  await store.close()
})
