// How far a copy has come: DATA_DIR/copy.json, so that the same command continues after an interruption. Without it a copy only begins again, and
// writes what is there already over itself.

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Family } from '../event/event.ts'

export interface Progress {
  /** Of each family that was begun, the cursor behind what is stored; null when all of it is. */
  readonly done: Readonly<Partial<Record<Family, string | null>>>
  /** Events delivered so far. */
  readonly events: number
}

export interface ProgressFile {
  /** Undefined when no copy between these places was interrupted. */
  read(): Progress | undefined
  write(progress: Progress): void
  remove(): void
}

/** `route` names source and target: the progress of another copy is ignored. */
export function createProgressFile(dataDir: string, route: string): ProgressFile {
  const path = join(dataDir, 'copy.json')
  return {
    read() {
      try {
        const { route: found, ...progress } = JSON.parse(readFileSync(path, 'utf8'))
        return found === route ? progress : undefined
      } catch {
        return undefined // none, or cut short by a power loss
      }
    },
    write(progress) {
      writeFileSync(`${path}.new`, JSON.stringify({ route, ...progress }))
      renameSync(`${path}.new`, path)
    },
    remove: () => rmSync(path, { force: true }),
  }
}
