// The blocks of the page Recipes, by their headings, with the address and the keys of a test in the place of the reader's.
import { readRepo } from './readme.ts'

export const RECIPES = readRepo('src/recipes.md')

export interface Filled {
  readonly url: string
  readonly key: string
  readonly token: string
}

/** The block under a heading. */
export function recipeOf(heading: string, { url, key, token }: Filled): string {
  const section = RECIPES.split(/^## /m).find((part) => part.startsWith(`${heading}\n`))
  const block = /^```\w+\n(.*?)^```/ms.exec(section ?? '')?.[1]
  if (block === undefined) throw new Error(`Recipes has no block under ${heading}`)
  return block
    .replaceAll('https://stint.example.com', url)
    .replaceAll(/\bKEY\b/g, key)
    .replaceAll(/\bTOKEN\b/g, token)
}
