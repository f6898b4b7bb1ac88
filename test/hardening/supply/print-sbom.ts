// `bun run sbom`: prints the bill of materials. Needs no network.
import { createSbom, readLock } from '../../../src/deploy/pack/read-lock.ts'
import { readPackageJson } from '../../../src/deploy/pack/sources.ts'

console.log(JSON.stringify(createSbom(readLock(), readPackageJson().version), null, 2))
