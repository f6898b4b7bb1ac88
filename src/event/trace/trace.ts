// The model of a stack trace, whatever language wrote it.

export interface Frame {
  /** Empty if the trace has none. */
  readonly name: string
  /** File, line and column as the trace has them; empty if it has none. */
  readonly place: string
  readonly family: Family
}

/** One exception of a chain of causes. */
export interface Raised {
  /** Empty if the trace has none. */
  readonly type: string
  readonly message: string
  /** Innermost first. */
  readonly frames: readonly Frame[]
}

/** Functions of the runtime, per family of languages. */
const RUNTIME = {
  script: /^process\.processTicks|^processTicksAndRejections$|^(?:Array|Map|Set)\.\w+$|^<(?:list|dict|set)comp>$/,
  jvm: new RegExp(
    '^(?:java|javax|jdk|sun|com\\.sun\\.proxy|kotlin|kotlinx|scala)\\.|' +
      '\\$\\$(?:Lambda|EnhancerBy|FastClassBy|SpringCGLIB)|\\$Proxy\\d',
  ),
  dotnet: /^(?:System|Microsoft)\./,
  go: /^(?:(?:runtime|testing|reflect|sync|internal)[./]|panic(?:$|\()|created by |net\/http\.\(\*conn\))/,
  native: new RegExp(
    '^(?:<?&?(?:std|core|alloc|anyhow|backtrace|tokio)::|rust_|__rust|_?_?(?:libc_)?start_|_start$|__libc|__GI_|' +
      '__cxa_|gsignal$|raise$|abort$|clone3?$|swift_|\\?\\?)',
  ),
} as const
export type Family = keyof typeof RUNTIME

const INTERNAL_PLACES = [
  /^(?:node:|internal\/|[a-z_]+\.(?:js|erl):|native\b|<anonymous>$|<frozen |<internal:|\[native code\]|\/rustc\/)/,
  /^(?:<generated>$|lib\/gen_server\.ex:)/,
  /\/(?:local|lib(?:64|exec)?)\/go[\d.-]*\/src\//,
  /\/python\d[\d.]*\/(?!(?:site|dist)-packages)/,
  /\/ruby\/\d[\d.]*\/(?!gems)/,
  /\blib(?:c|stdc\+\+|swift\w*)\.so|libc-start/,
]
const INTERNAL_PLACE = new RegExp(INTERNAL_PLACES.map(({ source }) => source).join('|'))

/** The frame belongs to the language's runtime, or a compiler generated it. */
export const isInternal = ({ name, place, family }: Frame): boolean =>
  RUNTIME[family].test(name) || INTERNAL_PLACE.test(place)

/** Files of these names exist in many folders, so the folder is part of the name. */
const COMMON = /^(?:index|route|page|layout|handler|mod|lib|views|models|tasks|__init__)\.[a-z]{1,4}$/
const ROOTS = /^(?:src|lib|dist|build|app|out|home|srv|opt|var|www|code|\W*)$|\d/

/** The place without line, column and query; directories only where the file's own name says too little. */
export function fileName({ place }: Frame): string {
  if (place === '') return ''
  const whole = place.slice(0, 500)
  const path = withoutLine(withoutLine(/[?#]/.test(whole) ? whole.replace(/[?#].*$/, '') : whole))
  const end = lastSlash(path)
  const name = path.slice(end + 1)
  if (end < 0 || !COMMON.test(name)) return name
  const above = path.slice(0, end)
  const parent = above.slice(lastSlash(above) + 1)
  return ROOTS.test(parent) ? name : `${parent}/${name}`
}

const lastSlash = (path: string): number => Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'))

/** Without `:12` at its end, which may stand there twice: line and column. */
export function withoutLine(place: string): string {
  let at = place.length - 1
  while (isDigit(place.charCodeAt(at))) at--
  return at < place.length - 1 && place[at] === ':' ? place.slice(0, at) : place
}

export const isDigit = (code: number): boolean => code >= 48 && code <= 57
export const isLetter = (code: number): boolean => (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
