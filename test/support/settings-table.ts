// `bun run settings`: writes the tables of settings from src/settings.ts: the basic ones into README.md, all others into
// src/deploy/README.md. readme.test.ts compares them.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SETTINGS, settingsOf } from '../../src/settings.ts'
import { ROOT, readRepo } from './readme.ts'

/** The document of each table, and whether it is that of the basic settings. */
const TABLES = [
  ['README.md', true],
  ['src/deploy/README.md', false],
] as const

/** A table of Markdown, its columns as wide as their widest cell. */
function settingsTable(isBasic: boolean): string {
  const settings = settingsOf(SETTINGS).filter((setting) => (setting.isBasic ?? false) === isBasic)
  const rows = settings.map(({ variable, isSecret, unset, defaultWords, about }) => [
    `\`${variable}\`${isSecret ? `, \`${variable}_FILE\`` : ''}`,
    defaultWords ?? (typeof unset === 'object' && unset.text !== '' ? `\`${unset.text}\`` : ''),
    about,
  ])
  const head = ['variable', 'default', 'meaning']
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map((cells) => cells[i]!.length)))
  const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

/** The documents with their tables as src/settings.ts has them. */
export const settingsDocuments = () =>
  TABLES.map(([path, isBasic]) => {
    const text = readRepo(path)
    const written = text.replace(/^\| variable .*(?:\n\|.*)*/m, () => settingsTable(isBasic))
    return { path, text, written }
  })

if (import.meta.main) {
  for (const { path, text, written } of settingsDocuments()) {
    writeFileSync(join(ROOT, path), written)
    console.log(`${path} ${written === text ? 'is up to date' : 'is written'}`)
  }
}
