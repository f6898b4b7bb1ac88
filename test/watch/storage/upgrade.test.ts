// A watches.sqlite of version 1.1 becomes one of this version.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { RELEASED } from '../../support/released.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { openStore } from '../watch-cast.ts'

function unpack(): { dir: string; file: Database } {
  const dir = tempDir('upgrade')
  const tar = ['tar', '-xJf', join(RELEASED, '1.1.0.tar.xz'), '-C', dir]
  expect(Bun.spawnSync([...tar, './watches.sqlite', './watches.sqlite-wal']).success).toBe(true)
  return { dir, file: new Database(join(dir, 'watches.sqlite')) }
}

test.each([
  ['the time until which 1.1 judged', 'INSERT INTO progress SELECT account, 4711 FROM watch', 4711],
  ['the making of the watch, if 1.1 did not note how far it judged', 'DELETE FROM progress', undefined],
])('the stores are asked for what came since %s', async (_, change, us) => {
  const { dir, file } = unpack()
  const made = file.query<{ us: number }, []>('SELECT since_us us FROM watch').get()!.us
  file.run(change)
  file.close()
  const store = openStore(dir)
  expect((await store.judged()).seedUs).toBe(us ?? made)
  await store.close()
})
