// The flags that narrow a question, and the parameters of the API that they become.
import { parseLocalTime } from '../local-time.ts'
import { invalidArgument } from '../program.ts'

const FLAGS = {
  from: [
    '--from <time>',
    'where the range begins: a time here ("2026-11-20 21:00"), RFC 3339, or so long ago (-90m; s, m, h, d, w); else -1h',
  ],
  to: ['--to <time>', 'where the range ends; else now'],
  process: ['--process <name>', 'only this process'],
  meta: ['--meta <text>', 'only this meta; "" for those without'],
  uid: ['--uid <id>', 'only this uid; "" for those without'],
  state: ['--state <state>', 'only completed, running, abandoned or orphan'],
  name: ['--name <name>', 'only this metric'],
  fingerprint: ['--fingerprint <group>', 'only exceptions of this group, as --groups shows it'],
  by: ['--by <field>', 'one row for each meta: --by meta'],
  every: ['--every <time>', 'one row for each 10s, 5m, 1h, 1d, …'],
  limit: ['--limit <n>', 'how many at most, up to 1000; else 100'],
} as const satisfies Record<string, readonly [flags: string, description: string]>

export type FilterName = keyof typeof FLAGS

export type Filters = { readonly [N in FilterName]?: string }

type Flag = readonly [flags: string, description: string, parse: (text: string) => string]

/** As commander takes it. */
export function flagOf(name: FilterName): Flag {
  const [flags, description] = FLAGS[name]
  return [flags, description, name === 'from' || name === 'to' ? parseTime : (text) => text]
}

function parseTime(text: string): string {
  const time = parseLocalTime(text)
  if (time !== undefined) return time
  throw invalidArgument(
    'It is a day and time that exist here ("2026-11-20 21:00"), RFC 3339 (2026-11-20T21:00:00Z), or so long ago (-90m).',
  )
}

/** What was given, as a query string's parameters. The server judges it. */
export function toParameters(given: Filters, allowed: readonly FilterName[]): URLSearchParams {
  const parameters = new URLSearchParams()
  for (const name of allowed) {
    const value = given[name]
    if (value !== undefined) parameters.set(name, value)
  }
  return parameters
}
