// What is packed: the files of this clone, and package.json; and how other tools are run on copies of them.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

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

export const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** The directory is removed afterwards. */
export function withTempDir<T>(work: (dir: string) => T): T {
  const dir = mkdtempSync(join(tmpdir(), 'stint-pack-'))
  try {
    return work(dir)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Writes files, keyed by their path in `dir`. */
export function stage(dir: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), text)
  }
}

/** The time of everything in archives, unless `SOURCE_DATE_EPOCH` says another: that of npm, 1985-10-26T08:15:00Z. */
const EPOCH = '499162500'

/** Throws with the output of the tool. */
export function runTool(command: readonly string[], cwd: string): void {
  const { success, stdout, stderr } = Bun.spawnSync([...command], {
    cwd,
    env: { SOURCE_DATE_EPOCH: EPOCH, ...process.env },
  })
  if (!success) throw new Error(`${command.join(' ')} failed:\n${stdout}${stderr}`)
}
