// The plain form of `stint exec`, read here because loading a parser of arguments takes as long as many a job. What is not plain (a request
// for help, a mistake) is left to that parser; a test holds both together.

export interface ExecCall {
  readonly command: readonly [name: string, ...args: string[]]
  readonly process?: string
  readonly meta?: string
  readonly uid?: string
}

/** Undefined when it is something else than a plain `exec [--process P] [--meta M] [--uid U] [--] COMMAND …`. */
export function parseExecCall(args: readonly string[]): ExecCall | undefined {
  if (args[0] !== 'exec') return undefined
  const given: Record<string, string> = {}
  let at = 1
  for (;;) {
    const [, name, attached] = /^--(process|meta|uid)(?:=(.*))?$/s.exec(args[at] ?? '') ?? []
    if (name === undefined) break
    const value = attached ?? args[++at]
    if (value === undefined) return undefined
    given[name] = value
    at++
  }
  if (args[at] === '--') at++
  else if (args[at]?.startsWith('-')) return undefined
  const [first, ...rest] = args.slice(at)
  return first === undefined ? undefined : { ...given, command: [first, ...rest] }
}
