// Reads an answer in the format JSONCompact in turns of the event loop: 100,000 rows at once would block it for 100 ms.
// The format is one document with each row on a line of its own. What is cut, or holds a rest of another answer, is no
// such document and throws.
import { rest, spend, stepsOf } from '../../turns.ts'

const BEGIN = '"data":\n\t[\n'
const END = '\n\t],\n\n\t"rows"'

interface Frame {
  readonly meta: readonly { readonly name: string }[]
  readonly rows: number
}

/** The names of the columns and their values, row by row. */
export async function parseRows(text: string): Promise<{ names: string[]; rows: unknown[][] }> {
  const [from, to] = [text.indexOf(BEGIN) + BEGIN.length, text.lastIndexOf(END)]
  const { meta, rows: count }: Frame = JSON.parse(text.slice(0, from) + text.slice(to))
  const rows: unknown[][] = []
  for (let at = from; at < to; ) {
    const line = text.indexOf('\n', at)
    const end = line === to ? to : line - 1 // without its comma
    const row = text.slice(at, end)
    rows.push(JSON.parse(row))
    at = line + 1
    if (spend(1 + stepsOf(row))) await rest()
  }
  if (rows.length !== count) throw new Error(`an answer of ${count} rows has ${rows.length}`)
  return { names: meta.map(({ name }) => name), rows }
}
