// bun.lock as data: every package that an installation may bring, with what is installed of it here.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, read } from '../../../src/deploy/pack/sources.ts'

export interface LockedPackage {
  readonly name: string
  readonly version: string
  /** Its path in the lock: its own name, after those of its parents if there are several versions. */
  readonly place: string
  readonly integrity: string
  /** Undefined when it is not installed here: it is for another platform. */
  readonly licence: string | undefined
  /** It is for one platform, so an installation may go without. */
  readonly isOptional: boolean
}

type Entry = readonly [
  id: string,
  registry: string,
  about: {
    readonly optionalDependencies?: Record<string, string>
  },
  integrity: string,
]

export function readLock(): LockedPackage[] {
  const text = read('bun.lock').replace(/,(?=\s*[}\]])/g, '')
  const { packages } = JSON.parse(text) as { packages: Record<string, Entry> }
  const optional = new Set(
    Object.values(packages).flatMap(([, , about]) => Object.keys(about.optionalDependencies ?? {})),
  )
  return Object.entries(packages).map(([place, [id, , , integrity]]) => {
    const split = id.lastIndexOf('@')
    const name = id.slice(0, split)
    return {
      name,
      version: id.slice(split + 1),
      place,
      integrity,
      licence: licenceOf(place),
      isOptional: optional.has(name),
    }
  })
}

/** `a/b` is `b` of `a`; a name may begin with a scope. */
function licenceOf(place: string): string | undefined {
  const names = place.match(/(?:@[^/]+\/)?[^/]+/g)!
  const nested = join(ROOT, 'node_modules', names.join('/node_modules/'), 'package.json')
  const path = existsSync(nested) ? nested : undefined
  if (path === undefined) return undefined
  const { license } = JSON.parse(readFileSync(path, 'utf8')) as { license?: string }
  return license ?? 'none'
}
