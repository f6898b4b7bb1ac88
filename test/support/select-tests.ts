// Chooses the files of a run. A fast test is `NAME.test.ts`, the pattern of `bun test`; a slow one is `NAME.slow.ts`,
// which Bun runs only by its path.
import { existsSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { Glob } from 'bun'

/** The longest ones: they start first, so that no worker is left with one of them at the end. */
const LONGEST: readonly string[] = [
  ...['integration/shared-watches', 'faults/kill', 'store/clickhouse/cluster', 'contract/pairing', 'console/tasks'],
  ...['copy/copy', 'console/views', 'console/door', 'watch/conditions', 'console/watches', 'console/extremes'],
]

export interface Selection {
  /** Runs one after the other, each of files as paths from the root of the repository, the longest first. */
  readonly sets: readonly (readonly string[])[]
  /** For `bun test`. */
  readonly options: readonly string[]
  readonly retriesFiles: boolean
}

const OURS = ['--slow', '--all', '--retry-files']

/**
 * `args` are --slow or --all, --retry-files, options of `bun test` (a value after `=`), rooms (`spool`, `watch/rules`)
 * and files, by their paths or as `spool/kill`. Throws when a name has no file of the kind.
 */
export function selectTests(args: readonly string[], root: string): Selection {
  const kinds = args.includes('--all') ? ['test', 'slow'] : [args.includes('--slow') ? 'slow' : 'test']
  const options = args.filter((arg) => arg.startsWith('-') && !OURS.includes(arg))
  const names = args.filter((arg) => !arg.startsWith('-'))
  const found = names.length === 0 ? kinds.flatMap((kind) => filesOf('test', kind)) : names.flatMap(find)
  const sets = kinds.map((kind) => [...new Set(found)].filter((file) => file.endsWith(`.${kind}.ts`)).sort(byLength))
  const retriesFiles = args.includes('--retry-files')
  return { sets: sets.filter((files) => files.length > 0), options, retriesFiles }

  function find(name: string): string[] {
    const place = name.replace(/^(\.\/)?(test\/)?/, 'test/').replace(/\/$/, '')
    const files = /\.(test|slow)\.ts$/.test(name)
      ? [place, name].filter((path) => kinds.some((kind) => path.endsWith(`.${kind}.ts`)))
      : kinds.map((kind) => `${place}.${kind}.ts`)
    const matches = [
      ...kinds.flatMap((kind) => filesOf(place, kind)),
      ...files
        .filter((path) => existsSync(resolve(root, path)))
        .map((path) => relative(root, resolve(root, path)).replace(/^(?!\.)/, './')),
    ]
    if (matches.length === 0) throw new Error(`${name} has no ${kinds.map((kind) => `.${kind}.ts`).join(' or ')} file`)
    return matches
  }

  function filesOf(folder: string, kind: string): string[] {
    return [...new Glob(`${folder}/**/*.${kind}.ts`).scanSync(root)].map((path) => `./${path}`)
  }
}

const rank = (file: string): number => {
  const place = LONGEST.indexOf(file.replace(/^\.\/test\//, '').replace(/\.\w+\.ts$/, ''))
  return place < 0 ? LONGEST.length : place
}

const byLength = (a: string, b: string): number => rank(a) - rank(b) || (a < b ? -1 : 1)
