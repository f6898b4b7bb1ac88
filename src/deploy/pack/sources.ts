// What is packed: the files of this clone, and package.json.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT = join(import.meta.dir, '../../..')

export const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

export interface PackageJson {
  readonly version: string
  readonly description: string
  readonly license: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly trustedDependencies: readonly string[]
  readonly engines: { readonly bun: string }
}

export const readPackageJson = (): PackageJson => JSON.parse(read('package.json'))
