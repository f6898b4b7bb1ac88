// The blocks of the page Recipes (src/recipes.md), which is their one place, for the console to fill in.
import type { Snippet } from '../../wire/snippets.ts'

const PAGE = '../../recipes.md'
const BLOCK = /^```\w+\n(.*?)^```/ms

/** In the order of the page. Rejects when the page cannot be read. */
export async function readRecipes(): Promise<readonly Snippet[]> {
  const [, ...sections] = (await Bun.file(new URL(PAGE, import.meta.url)).text()).split(/^## /m)
  return sections.flatMap((section): Snippet[] => {
    const block = BLOCK.exec(section)?.[1]
    if (block === undefined) return []
    const name = section.slice(0, section.indexOf('\n'))
    const prose = section.slice(name.length, section.indexOf('```')).trim().replaceAll(/\s+/g, ' ')
    // sentences about the tests are for readers of the page alone
    const hint = prose.split(/(?<=[.:]) /).filter((sentence) => !/\b(?:by|of) (?:the tests|them)\b/.test(sentence))
    return [{ name, hint: hint.join(' '), text: block.replaceAll('https://stint.example.com', 'ADDRESS') }]
  })
}
