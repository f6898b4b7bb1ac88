// `bun run settings`: writes README's table of settings from src/settings.ts. readme.test.ts compares the two.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SETTINGS, settingsOf } from '../../src/settings.ts'
import { ROOT, readRepo } from './readme.ts'

const README = 'README.md'

/** A table of Markdown, its columns as wide as their widest cell. */
export function settingsTable(): string {
  const rows = settingsOf(SETTINGS).map(({ variable, isSecret, unset, defaultWords, about }) => [
    `\`${variable}\`${isSecret ? `, \`${variable}_FILE\`` : ''}`,
    defaultWords ?? (typeof unset === 'object' && unset.text !== '' ? `\`${unset.text}\`` : ''),
    about,
  ])
  const head = ['variable', 'default', 'meaning']
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map((cells) => cells[i]!.length)))
  const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

if (import.meta.main) {
  const text = readRepo(README)
  const written = text.replace(/^\| variable .*(?:\n\|.*)*/m, () => settingsTable())
  writeFileSync(join(ROOT, README), written)
  console.log(`${README} ${written === text ? 'is up to date' : 'is written'}`)
}
