// Reads a plain `stint exec` call: loading the full parser of arguments takes longer than many jobs. Anything else (a
// request for help, a mistake) returns undefined and is left to that parser; a test compares both.

export interface ExecCall {
  readonly command: readonly [name: string, ...args: string[]]
  readonly process?: string
  readonly meta?: string
  readonly uid?: string
  /** Exit codes that count as success, besides 0. */
  readonly ok?: readonly number[]
  /** Seconds. */
  readonly timeout?: number
}

type Parse = (text: string) => unknown

const VALUES: Readonly<Record<string, Parse>> = {
  process: String,
  meta: String,
  uid: String,
  ok: parseExitCodes,
  timeout: parseTimeoutS,
}

/** Undefined unless it is a valid `exec [--NAME VALUE | --NAME=VALUE]… [--] COMMAND …`. */
export function parseExecCall(args: readonly string[]): ExecCall | undefined {
  if (args[0] !== 'exec') return undefined
  const given: Record<string, unknown> = {}
  let at = 1
  for (;;) {
    const [, name = '', attached] = /^--(process|meta|uid|ok|timeout)(?:=(.*))?$/s.exec(args[at] ?? '') ?? []
    const parse = VALUES[name]
    if (parse === undefined) break
    const text = attached ?? args[++at]
    if (text === undefined) return undefined
    given[name] = parse(text)
    if (given[name] === undefined) return undefined
    at++
  }
  if (args[at] === '--') at++
  else if (args[at]?.startsWith('-')) return undefined
  const [first, ...rest] = args.slice(at)
  return first === undefined ? undefined : { ...given, command: [first, ...rest] }
}

/** `0,3` → [0, 3]. Undefined unless all are 0 to 255. */
export function parseExitCodes(text: string): number[] | undefined {
  if (!/^\d{1,3}(,\d{1,3})*$/.test(text)) return undefined
  const codes = text.split(',').map(Number)
  return codes.every((code) => code <= 255) ? codes : undefined
}

const UNIT_S: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** `0`, `90s`, `30m`, `24h`, `7d`; a number alone is seconds. Undefined for anything else. */
export function parseSpanS(text: string): number | undefined {
  const [, count, unit = 's'] = /^(\d{1,8})([smhd])?$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * UNIT_S[unit]!
}

/** A timer's longest time is 2³¹ ms. */
const TIMEOUT_MAX_S = 24 * 86_400

/** Undefined unless it is a span from 1 s to 24 d. */
export function parseTimeoutS(text: string): number | undefined {
  const seconds = parseSpanS(text)
  return seconds !== undefined && seconds >= 1 && seconds <= TIMEOUT_MAX_S ? seconds : undefined
}
