// What a dashboard's variables are called, and how a caller's text in them stays text. The names of processes and metas come from whoever has a key, and a
// variable's value also from the address of a page: each is escaped by Grafana itself, in the one format that is safe where it stands.
//   Flux  `${process:regex}` between slashes: the slash and the backslash are escaped too.
//   SQL   `${process:percentencode}` between quotes, decoded by ClickHouse: only letters, digits and -_.~% are left.
// Both are for variables with a single value. `%` is stripped from every process and meta that comes in (SPEC.md), so what holds one is free for a meaning of its own.

/** Matches all that a variable may be, and is no process or meta. What `All` stands for. */
export const ALL = '[^%]*'

/** Stands for: without meta. */
export const WITHOUT_META = '%without%'

export type Variable = 'account' | 'process' | 'meta'

/** A Flux regular expression that matches the variable's value and nothing else, or with `|` also the empty text. */
export const fluxPattern = (variable: Variable, or: '' | '|' = ''): string => `/^(?:\${${variable}:regex}${or})$/`

/** A SQL expression: the variable's value. */
export const sqlText = (variable: Variable): string => `decodeURLComponent('\${${variable}:percentencode}')`

/** Which marks, metrics or exceptions a panel is about. */
export type Scope = 'accounts' | 'process'

/** SQL conditions, to be joined by AND. */
export function sqlScope(scope: Scope): string[] {
  const ofAccount = `(${sqlText('account')} = '${ALL}' OR account = ${sqlText('account')})`
  if (scope === 'accounts') return [ofAccount]
  const meta = sqlText('meta')
  return [
    ofAccount,
    `process = ${sqlText('process')}`,
    `(${meta} = '${ALL}' OR meta = if(${meta} = '${WITHOUT_META}', '', ${meta}))`,
  ]
}
