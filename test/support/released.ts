// The released versions: the DATA_DIR that each left behind, and its code, where this clone has the history.
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './readme.ts'
import { tempDir } from './temp-dir.ts'

/** VERSION.tar.xz and VERSION.json of each. */
export const RELEASED = join(ROOT, 'test/faults/released')

/** What is in the stored DATA_DIR of a released version. */
export interface Released {
  /** From which it was written. */
  readonly commit: string
  readonly wallUs: number
  readonly password: string
  readonly ada: Person
  readonly bob: Person
  readonly manager: Key
  readonly revoked: Key
  readonly channel: string
  readonly watch: string
  readonly alert: string
  readonly sent: readonly { readonly path: string; readonly body: object; readonly at: string }[]
}

interface Key {
  readonly id: string
  readonly secret: string
}

interface Person {
  readonly email: string
  readonly account: string
  readonly secret: string
  readonly cookie: string
}

/** The newest last. */
export const RELEASED_VERSIONS = readdirSync(RELEASED)
  .flatMap((name) => /^(\d+\.\d+\.\d+)\.json$/.exec(name)?.[1] ?? [])
  .sort(Bun.semver.order)

/** This version opens the DATA_DIR of these. */
export const OPENED_VERSIONS = RELEASED_VERSIONS.filter((version) => Bun.semver.order(version, '2.0.0') >= 0)

export const readReleased = (version: string): Released =>
  JSON.parse(readFileSync(join(RELEASED, `${version}.json`), 'utf8'))

/** A directory with the code of a commit and its dependencies; undefined where the commit is missing, as in a shallow clone. */
export function checkOut(commit: string): string | undefined {
  if (!existsSync(join(ROOT, '.git')) || !Bun.spawnSync(['git', 'cat-file', '-e', commit], { cwd: ROOT }).success)
    return undefined
  const dir = join(tempDir('before'), 'stint')
  mkdirSync(dir)
  const made = Bun.spawnSync(['bash', '-c', `git -C "${ROOT}" archive ${commit} | tar -x -C "${dir}"`])
  if (!made.success) throw new Error(`git archive failed: ${made.stderr}`)
  const installed = Bun.spawnSync(['bun', 'install', '--frozen-lockfile'], { cwd: dir })
  if (!installed.success) throw new Error(`its dependencies cannot be installed: ${installed.stderr}`)
  return dir
}
