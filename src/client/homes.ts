// The directories that may hold the backlog: the user's state directory, and where that cannot be written (no home, a
// read-only disk) one of the user's own among the temporary files. Nobody else may have made that one.
import { lstatSync, mkdirSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import process from 'node:process'

export interface Home {
  readonly path: string
  /** In a directory where every user may write. */
  readonly isShared?: true
}

/** Environment variables as the caller set them. */
type Read = (name: string) => string | undefined

export function findHomes(env: Read, userHome: string | undefined): Home[] {
  const state = env('XDG_STATE_HOME')
  // The XDG rules: a path that is not absolute is ignored.
  const base = state && isAbsolute(state) ? state : userHome && join(userHome, '.local/state')
  const uid = ownUid()
  return [
    ...(base ? [{ path: join(base, 'stint') }] : []),
    ...(uid === undefined ? [] : [{ path: join(env('TMPDIR') || '/tmp', `stint-${uid}`), isShared: true as const }]),
  ]
}

/** Undefined on Windows, and in Deno without --allow-sys. */
function ownUid(): number | undefined {
  try {
    return process.getuid?.()
  } catch {
    return undefined
  }
}

/** Throws if it cannot be made, or is not the user's own. */
export function makeHome(home: Home): void {
  if (!home.isShared) return void mkdirSync(home.path, { recursive: true, mode: 0o700 })
  try {
    mkdirSync(home.path, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  if (!isUsable(home)) throw Object.assign(new Error('another user made it'), { code: 'EACCES' })
}

export function isUsable({ path, isShared }: Home): boolean {
  if (!isShared) return true
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found?.isDirectory() === true && found.uid === ownUid() && (found.mode & 0o077) === 0
}
