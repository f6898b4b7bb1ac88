// bun.lock as data: every package that an installation may bring, with what is installed of it here.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, read } from './sources.ts'

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
  /** Names of the packages it needs. */
  readonly dependencies: readonly string[]
}

type Entry = readonly [
  id: string,
  registry: string,
  about: {
    readonly dependencies?: Record<string, string>
    readonly optionalDependencies?: Record<string, string>
    readonly peerDependencies?: Record<string, string>
    readonly optionalPeers?: readonly string[]
  },
  integrity: string,
]

export function readLock(): LockedPackage[] {
  const text = read('bun.lock').replace(/,(?=\s*[}\]])/g, '')
  const { packages } = JSON.parse(text) as { packages: Record<string, Entry> }
  const optional = new Set(
    Object.values(packages).flatMap(([, , about]) => Object.keys(about.optionalDependencies ?? {})),
  )
  return Object.entries(packages).map(([place, [id, , about, integrity]]) => {
    const split = id.lastIndexOf('@')
    const name = id.slice(0, split)
    return {
      name,
      version: id.slice(split + 1),
      place,
      integrity,
      licence: licenceOf(place),
      isOptional: optional.has(name),
      dependencies: dependenciesOf(about),
    }
  })
}

const dependenciesOf = ({ dependencies, optionalDependencies, peerDependencies, optionalPeers = [] }: Entry[2]) =>
  Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }).filter(
    (name) => !optionalPeers.includes(name),
  )

/** `a/b` is `b` of `a`; a name may begin with a scope. */
function licenceOf(place: string): string | undefined {
  const names = place.match(/(?:@[^/]+\/)?[^/]+/g)!
  const nested = join(ROOT, 'node_modules', names.join('/node_modules/'), 'package.json')
  const path = existsSync(nested) ? nested : undefined
  if (path === undefined) return undefined
  const { license } = JSON.parse(readFileSync(path, 'utf8')) as { license?: string }
  return license ?? 'none'
}

// The bill of materials of the lock, as CycloneDX 1.6.
/** A package URL: the scope's `@` is escaped. */
const purlOf = ({ name, version }: LockedPackage) => `pkg:npm/${name.replace('@', '%40')}@${version}`

/** Operators distinguish an expression from a single licence. */
const licencesOf = (licence: string) =>
  / (OR|AND|WITH) /.test(licence)
    ? [{ expression: licence.replace(/^\((.*)\)$/, '$1') }]
    : [{ license: { id: licence } }]

export function createSbom(packages: readonly LockedPackage[], version: string) {
  const epoch = process.env.SOURCE_DATE_EPOCH
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      ...(epoch && { timestamp: new Date(Number(epoch) * 1_000).toISOString() }),
      component: { type: 'application', 'bom-ref': `stint@${version}`, name: 'stint', version },
    },
    components: [...new Map(packages.map((one) => [purlOf(one), one]))].map(([purl, one]) => ({
      type: 'library',
      'bom-ref': purl,
      name: one.name,
      version: one.version,
      purl,
      scope: one.isOptional ? 'optional' : 'required',
      hashes: [
        { alg: 'SHA-512', content: Buffer.from(one.integrity.replace('sha512-', ''), 'base64').toString('hex') },
      ],
      ...(one.licence !== undefined && { licenses: licencesOf(one.licence) }),
    })),
  }
}
