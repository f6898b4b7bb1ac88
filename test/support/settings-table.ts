// `bun run settings`: writes the table of settings from src/settings.ts into src/deploy/README.md, those to begin with
// first. readme.test.ts compares them.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SETTINGS, settingsOf } from '../../src/settings.ts'
import { ROOT, readRepo } from './readme.ts'

const DOCUMENT = 'src/deploy/README.md'

/** A table of Markdown, its columns as wide as their widest cell. */
function settingsTable(): string {
  const isBasic = (setting: { readonly isBasic?: boolean }) => setting.isBasic ?? false
  const settings = settingsOf(SETTINGS).toSorted((a, b) => Number(isBasic(b)) - Number(isBasic(a)))
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

/** The document with its table as src/settings.ts has it. */
export function settingsDocument() {
  const text = readRepo(DOCUMENT)
  return { path: DOCUMENT, text, written: text.replace(/^\| variable .*(?:\n\|.*)*/m, settingsTable) }
}

if (import.meta.main) {
  const { path, text, written } = settingsDocument()
  writeFileSync(join(ROOT, path), written)
  console.log(`${path} ${written === text ? 'is up to date' : 'is written'}`)
}
