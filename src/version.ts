// The version and the commit of this Stint. package.json is the source of the version; packed, it names the commit,
// too, as npm does (`gitHead`).
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }

/** Defined by the bundler in a compiled binary. */
declare const STINT_COMMIT: string | undefined

const LENGTH = 12

type Place = 'clone' | 'container' | 'package'
/** `place` is set in the image, and by the packer. */
const { version, gitHead, place = 'clone' } = packageJson as { version: string; gitHead?: string; place?: Place }

/** The command line per kind of installation. */
export const COMMAND_LINES = {
  clone: { command: 'bun run stint', where: '' },
  container: { command: 'bun run stint', where: ' in this container' },
  package: { command: 'npx stint', where: '' },
} as const satisfies Record<Place, { command: string; where: string }>

export const COMMAND_LINE = COMMAND_LINES[place]

export interface Version {
  readonly version: string
  /** The first 12 digits; absent where nothing tells it. */
  readonly commit?: string
}

export function readVersion(): Version {
  const commit = (typeof STINT_COMMIT === 'string' ? STINT_COMMIT : (gitHead ?? readHead()))?.slice(0, LENGTH)
  return { version, ...(commit && { commit }) }
}

export const formatVersion = ({ version, commit }: Version): string =>
  commit === undefined ? version : `${version} (${commit})`

/** The commit of the clone that this file is in; undefined elsewhere. */
export function readHead(root = join(import.meta.dir, '..')): string | undefined {
  const read = (...path: string[]) => readFileSync(join(...path), 'utf8').trim()
  try {
    const dotGit = join(root, '.git')
    const isWorktree = statSync(dotGit).isFile()
    const git = isWorktree ? read(dotGit).replace('gitdir: ', '') : dotGit
    const shared = isWorktree ? join(git, read(git, 'commondir')) : git
    const head = read(git, 'HEAD')
    if (!head.startsWith('ref: ')) return head
    const ref = head.slice('ref: '.length)
    if (existsSync(join(shared, ref))) return read(shared, ref)
    const packed = read(shared, 'packed-refs').split('\n')
    return packed.find((line) => line.endsWith(` ${ref}`))?.split(' ')[0]
  } catch {
    return undefined // no clone
  }
}
