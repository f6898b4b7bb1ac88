// The bill of materials of the lock, as CycloneDX 1.6.
import type { LockedPackage } from './read-lock.ts'

/** A package URL: the scope's `@` is escaped. */
const purlOf = ({ name, version }: LockedPackage) => `pkg:npm/${name.replace('@', '%40')}@${version}`

/** Operators distinguish an expression from a single licence. */
const licencesOf = (licence: string) =>
  / (OR|AND|WITH) /.test(licence)
    ? [{ expression: licence.replace(/^\((.*)\)$/, '$1') }]
    : [{ license: { id: licence } }]

export function createSbom(packages: readonly LockedPackage[], version: string) {
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', 'bom-ref': `stint@${version}`, name: 'stint', version } },
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
