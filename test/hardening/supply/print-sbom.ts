// `bun run sbom`: prints the bill of materials. Needs no network.
import { createSbom, readLock, readPackageJson } from '../../../src/deploy/pack/read-lock.ts'

console.log(JSON.stringify(createSbom(readLock(), readPackageJson().version), null, 2))
