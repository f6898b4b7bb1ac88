// Reads the documentation for the tests that compare it with the code.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'

export const ROOT = join(import.meta.dir, '../..')

/** Paths from the top of the repository. */
export const DOCUMENTS = ['README.md', ...new Glob('{src,test}/**/*.md').scanSync(ROOT)].sort()

export const readRepo = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** The text under a heading of any level, up to the next heading. */
export function sectionUnder(path: string, heading: string): string {
  const section = readRepo(path)
    .split(/^#+ /m)
    .find((part) => part.startsWith(`${heading}\n`))
  if (section === undefined) throw new Error(`${path} has no section ${heading}`)
  return section
}

/** The rows of the table under a heading whose first cell is code, as cells. */
export const tableUnder = (path: string, heading: string): string[][] =>
  [...sectionUnder(path, heading).matchAll(/^\| (`.*) \|$/gm)].map(([, row]) =>
    row!.split(' | ').map((cell) => cell.trim()),
  )
