// The parameters of statements in the embedded engine. chDB's driver runs statements with parameters one after the other, on all connections together:
// a long question of one account would stop those of all. So they are set on the connection by a statement of its own; the engine still binds them.
import type { ClickHouseClient, Params } from './client.ts'

/** As the engine reads a parameter: as a field of TSV. */
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\0': '\\0',
  '\b': '\\b',
  '\f': '\\f',
}

/** A literal of SQL, of printable ASCII without quotes and backslashes; all other bytes are `\xHH`. */
function quote(value: string | number): string {
  const field = String(value).replace(/[\\\t\n\r\0\b\f]/g, (char) => ESCAPES[char]!)
  const text = field.replace(/[^ -&(-[\]-~]+/g, (part) => {
    const bytes = Array.from(Buffer.from(part), (byte) => byte.toString(16).padStart(2, '0'))
    return bytes.map((hex) => `\\x${hex}`).join('')
  })
  return `'${text}'`
}

/** The client with its parameters set on its connection, which must run one call at a time. What a statement is not given is empty, and never that of another. */
export function bindOnConnection(client: ClickHouseClient): ClickHouseClient {
  const known = new Set<string>()

  async function bind(params: Params = {}): Promise<void> {
    for (const name of Object.keys(params)) known.add(name)
    if (known.size === 0) return
    await client.run(`SET ${[...known].map((name) => `param_${name} = ${quote(params[name] ?? '')}`).join(', ')}`)
  }

  return {
    async run(sql, params, rows) {
      await bind(params)
      await client.run(sql, {}, rows)
    },
    async select(sql, params, asker) {
      await bind(params)
      return client.select(sql, {}, asker)
    },
    async selectArrays(sql, params) {
      await bind(params)
      return client.selectArrays(sql)
    },
    close: () => client.close(),
  }
}
